/// The TEXT messages of the app in the subprotocol `portcullis.v1`, and the two fields of its upgrade (docs/sessions.md).
internal import PortcullisProtocol

extension ClientDescription {
  var message: [UInt8] {
    var members: [(String, [UInt8])] = []
    if let name { members.append((MemberName.name, JSONText.quoted(name))) }
    if let version { members.append((MemberName.version, JSONText.quoted(version))) }
    if let terminal { members.append((MemberName.terminal, JSONText.quoted(terminal))) }
    if !features.isEmpty { members.append((MemberName.features, AppText.list(features))) }
    if let columns { members.append((MemberName.columns, Array(String(columns).utf8))) }
    if let rows { members.append((MemberName.rows, Array(String(rows).utf8))) }
    if !gmcp.isEmpty { members.append((MemberName.gmcp, AppText.list(gmcp))) }
    return AppText.object(.client, members)
  }

  /// For the upgrade; nil when it is too long for a field.
  var field: String? {
    let value = TextEncoding.base64URL(message)
    return value.utf8.count <= SessionLimit.clientFieldBytes ? value : nil
  }
}

enum AppText {
  static func acknowledgement(_ received: Int) -> [UInt8] {
    object(.ack, [(MemberName.received, Array(String(received).utf8))])
  }

  static let leave = object(.leave, [])

  static func gmcp(package: String, data: String?) -> [UInt8] {
    var members = [(MemberName.package, JSONText.quoted(package))]
    if let data { members.append((MemberName.data, Array(data.utf8))) }
    return object(.gmcp, members)
  }

  /// `[A-Za-z][A-Za-z0-9_.-]{0,63}`: what the gate lets through to the game.
  static func isPackage(_ name: String) -> Bool {
    guard let first = name.utf8.first, (1...64).contains(name.utf8.count) else { return false }
    return isLetter(first)
      && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "_.-".utf8.contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  static func msdp(_ data: String) -> [UInt8] { object(.msdp, [(MemberName.data, Array(data.utf8))]) }

  /// The value of `Portcullis-Resume`.
  static func resume(_ id: String, received: Int, asksForState: Bool) -> String {
    "\(id);received=\(received)\(asksForState ? ";state" : "")"
  }

  fileprivate static func object(_ kind: MessageKind, _ members: [(String, [UInt8])]) -> [UInt8] {
    object([(MemberName.type, JSONText.quoted(kind.rawValue))] + members)
  }

  /// - Parameter members: names that need no escaping, and JSON values.
  static func object(_ members: [(String, [UInt8])]) -> [UInt8] {
    let texts = members.map { name, value in Array("\"\(name)\":".utf8) + value }
    return [UInt8(ascii: "{")] + texts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
  }

  fileprivate static func list(_ texts: [String]) -> [UInt8] {
    [UInt8(ascii: "[")] + texts.map(JSONText.quoted).joined(separator: [UInt8(ascii: ",")])
      + [UInt8(ascii: "]")]
  }
}
