/// The form of `ADMIN_TOKENS_PATH` (docs/console.md, "Tokens"): one JSON object, in which nothing may be unknown.
internal import Bytes
internal import JSON
internal import Time

package struct AdminTokenFileError: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

extension AdminTokens {
  private static let version: Int64 = 1
  private static let members = ["version", "tokens"]
  private static let tokenMembers = ["name", "sha256", "scopes", "createdAt", "expiresAt"]

  /// What the file holds, with a line feed at its end.
  package var text: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("version")
    writer.value(Self.version)
    writer.name("tokens")
    writer.beginArray()
    for token in tokens {
      writer.beginObject()
      writer.name("name")
      writer.value(token.name)
      writer.name("sha256")
      writer.value(token.hash.hex)
      writer.name("scopes")
      writer.beginArray()
      for scope in AdminActor.Scope.allCases where token.scopes.contains(scope) {
        writer.value(scope.rawValue)
      }
      writer.endArray()
      writer.name("createdAt")
      writer.value(token.createdAt.timestamp)
      writer.name("expiresAt")
      writer.value(token.expiresAt.timestamp)
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// Strict: what is not understood might have been meant to narrow a token down.
  package init(parsing bytes: Span<UInt8>) throws(AdminTokenFileError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: bytes, depthLimit: 4)
    } catch {
      throw AdminTokenFileError("is not JSON: \(error)")
    }
    let object = try Self.object(value, of: Self.members)
    guard object["version"]?.integer == Self.version else {
      throw AdminTokenFileError("is not of version \(Self.version)")
    }
    guard let elements = object["tokens"]?.array, elements.count <= Self.limit else {
      throw AdminTokenFileError("has no list of at most \(Self.limit) tokens")
    }
    self.init()
    for element in elements { tokens.append(try Self.token(element)) }
    guard Set(tokens.map(\.name)).count == tokens.count else {
      throw AdminTokenFileError("has a name twice")
    }
  }

  private static func object(_ value: JSONValue, of names: [String]) throws(AdminTokenFileError) -> JSONObject
  {
    guard let object = value.object else { throw AdminTokenFileError("has no object where one belongs") }
    for member in object.members where !names.contains(member.name) {
      throw AdminTokenFileError(
        "has a member that is not known: \(PrintableText.field(member.name, limit: 64))")
    }
    return object
  }

  private static func token(_ value: JSONValue) throws(AdminTokenFileError) -> AdminToken {
    let object = try object(value, of: tokenMembers)
    guard let name = object["name"]?.string, AdminToken.isName(name) else {
      throw AdminTokenFileError("has a token without a name that can be one")
    }
    guard let hash = object["sha256"]?.string.flatMap({ Bytes32(hex: $0) }),
      let words = object["scopes"]?.array,
      let createdAt = object["createdAt"]?.string.flatMap({ UnixTime(timestamp: $0) }),
      let expiresAt = object["expiresAt"]?.string.flatMap({ UnixTime(timestamp: $0) })
    else { throw AdminTokenFileError("lacks something of the token \(name)") }
    var scopes: Set<AdminActor.Scope> = []
    for word in words {
      guard let scope = word.string.flatMap({ AdminActor.Scope(rawValue: $0) }) else {
        throw AdminTokenFileError("gives the token \(name) a scope that is not known")
      }
      scopes.insert(scope)
    }
    guard !scopes.isEmpty else { throw AdminTokenFileError("gives the token \(name) no scope") }
    return AdminToken(name: name, scopes: scopes, createdAt: createdAt, expiresAt: expiresAt, hash: hash)
  }
}
