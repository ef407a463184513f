/// Some keys of another gate, as the control socket carries them: arrays in an array, as a line has a limit and files have
/// many keys (docs/backup.md, "From another gate").
package import Bytes
internal import JSON
internal import System

package struct ForeignKeys: Equatable, Sendable {
  package struct Key: Equatable, Sendable {
    package let identifier: KeyIdentifier
    package let publicKey: P256Point
    package let signCount: UInt32
    /// Milliseconds of Unix time, as all times here.
    package let registeredAt: Int64
    package let lastUsedAt: Int64?

    package init(
      identifier: KeyIdentifier, publicKey: P256Point, signCount: UInt32, registeredAt: Int64,
      lastUsedAt: Int64?
    ) {
      self.identifier = identifier
      self.publicKey = publicKey
      self.signCount = signCount
      self.registeredAt = registeredAt
      self.lastUsedAt = lastUsedAt
    }
  }

  /// So many of them in one order: far below what a line may have, and little to do at once.
  package static let most = 512

  /// Whose they are.
  package let source: String
  package let goodUntil: Int64
  package let appID: String?
  package let keys: [Key]

  package init(source: String, goodUntil: Int64, appID: String?, keys: [Key]) {
    self.source = source
    self.goodUntil = goodUntil
    self.appID = appID
    self.keys = keys
  }

  static let memberNames = ["command", "from", "goodUntil", "appId", "keys"]

  func write(to writer: inout JSONWriter) {
    writer.member("from", source)
    writer.member("goodUntil", goodUntil)
    writer.member("appId", optional: appID)
    writer.name("keys")
    writer.beginArray()
    for key in keys {
      writer.beginArray()
      writer.value(key.identifier.base64)
      writer.value(Base64.encode(key.publicKey.x963.span))
      writer.value(key.signCount)
      writer.value(key.registeredAt)
      if let time = key.lastUsedAt { writer.value(time) }
      writer.endArray()
    }
    writer.endArray()
  }

  init(_ object: JSONObject) throws(ControlRefusal) {
    guard let source = object["from"]?.string, let goodUntil = object["goodUntil"]?.integer,
      let values = object["keys"]?.array, values.count <= Self.most
    else { throw ControlRefusal(.badRequest, "from, goodUntil and at most \(Self.most) keys are needed") }
    if object["appId"] != nil, object["appId"]?.string == nil {
      throw ControlRefusal(.badRequest, "appId must be a string")
    }
    var keys: [Key] = []
    for value in values {
      guard let key = value.array.flatMap({ Key($0) }) else {
        throw ControlRefusal(.badRequest, "key \(keys.count) is no array of what a key has")
      }
      keys.append(key)
    }
    self.init(source: source, goodUntil: goodUntil, appID: object["appId"]?.string, keys: keys)
  }
}

extension ForeignKeys.Key {
  fileprivate init?(_ fields: [JSONValue]) {
    guard fields.count == 4 || fields.count == 5, let name = fields[0].string,
      let identifier = KeyIdentifier(base64: name), let text = fields[1].string,
      let point = Base64.decode(Array(text.utf8).span).flatMap({ P256Point(x963: $0.span) }),
      let count = fields[2].integer.flatMap({ UInt32(exactly: $0) }), let registeredAt = fields[3].integer
    else { return nil }
    let lastUsedAt = fields.count == 5 ? fields[4].integer : nil
    if fields.count == 5, lastUsedAt == nil { return nil }
    self.init(
      identifier: identifier, publicKey: point, signCount: count, registeredAt: registeredAt,
      lastUsedAt: lastUsedAt)
  }
}
