/// What an operator orders of who may see the console (docs/console.md, "Signing in").
internal import Bytes
internal import JSON

package enum AdminOrder: Equatable, Sendable {
  /// An address by which the asking user signs in.
  case link
  /// - Parameters:
  ///   - scopes: words of the console's, which it reads itself.
  ///   - seconds: how long it is good for.
  case token(name: String, scopes: [String], seconds: Int64)
  case list
  case revoke(Selection)

  package enum Selection: Equatable, Sendable {
    /// Of a user or a token.
    case name(String)
    case session(UInt64)
    case all
  }

  var command: ControlRequest.Command {
    switch self {
    case .link: .adminLink
    case .token: .adminToken
    case .list: .adminList
    case .revoke: .adminRevoke
    }
  }

  func writeMembers(to writer: inout JSONWriter) {
    switch self {
    case .link, .list: break
    case .token(let name, let scopes, let seconds):
      writer.member("name", name)
      writer.name("scopes")
      writer.beginArray()
      for scope in scopes { writer.value(scope) }
      writer.endArray()
      writer.member("seconds", seconds)
    case .revoke(.name(let name)): writer.member("name", name)
    case .revoke(.session(let number)): writer.member("session", number)
    case .revoke(.all):
      writer.name("all")
      writer.value(true)
    }
  }

  static func memberNames(of command: ControlRequest.Command) -> [String] {
    switch command {
    case .adminToken: ["command", "name", "scopes", "seconds"]
    case .adminRevoke: ["command", "name", "session", "all"]
    default: ["command"]
    }
  }

  static func token(_ object: JSONObject) throws(ControlRefusal) -> AdminOrder {
    guard let name = object["name"]?.string else { throw ControlRefusal(.badRequest, "no name") }
    guard let values = object["scopes"]?.array, values.count <= 8 else {
      throw ControlRefusal(.badRequest, "scopes must be a list of words")
    }
    var scopes: [String] = []
    for value in values {
      guard let scope = value.string else {
        throw ControlRefusal(.badRequest, "scopes must be a list of words")
      }
      scopes.append(scope)
    }
    guard let seconds = object["seconds"]?.integer, seconds >= 0, seconds <= longestTime else {
      throw ControlRefusal(.badRequest, "seconds must be a whole number, at most \(longestTime)")
    }
    return .token(name: name, scopes: scopes, seconds: seconds)
  }

  static func revoke(_ object: JSONObject) throws(ControlRefusal) -> AdminOrder {
    switch (object["name"], object["session"], object["all"]) {
    case (.string(let name)?, nil, nil): return .revoke(.name(name))
    case (nil, let number?, nil):
      guard let number = number.integer, number > 0 else {
        throw ControlRefusal(.badRequest, "session must be a number above 0")
      }
      return .revoke(.session(UInt64(number)))
    case (nil, nil, .boolean(true)?): return .revoke(.all)
    default: throw ControlRefusal(.badRequest, "name either a name, a session, or all")
    }
  }

  /// A hundred years, so that no sum of times overflows; the console itself allows less.
  private static let longestTime: Int64 = 100 * 366 * 86_400
}
