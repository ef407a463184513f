/// The TEXT messages of the app in the subprotocol `portcullis.v1`, and the two fields of its upgrade (docs/sessions.md).
internal import PortcullisProtocol

/// What an app says of itself to the game. The gate keeps at most 512 bytes of it.
package struct ClientFacts: Equatable, Sendable {
  /// 1 to 40 printable ASCII characters, as are `version` and `terminal`.
  package var name: String?
  package var version: String?
  package var terminal: String?
  /// `ClientFeature`s.
  package var features: [String]
  package var columns: Int?
  package var rows: Int?
  /// GMCP packages with their versions, such as `Char 1`.
  package var gmcp: [String]

  package init(
    name: String? = nil, version: String? = nil, terminal: String? = nil, features: [String] = [],
    columns: Int? = nil, rows: Int? = nil, gmcp: [String] = []
  ) {
    self.name = name
    self.version = version
    self.terminal = terminal
    self.features = features
    self.columns = columns
    self.rows = rows
    self.gmcp = gmcp
  }

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
    let value = AppText.base64URL(message)
    return value.utf8.count <= SessionLimit.clientFieldBytes ? value : nil
  }
}

enum AppText {
  static func acknowledgement(_ received: Int) -> [UInt8] {
    object(.ack, [(MemberName.received, Array(String(received).utf8))])
  }

  static let leave = object(.leave, [])

  static func gmcp(package: String, data: [UInt8]?) -> [UInt8] {
    var members = [(MemberName.package, JSONText.quoted(package))]
    if let data { members.append((MemberName.data, data)) }
    return object(.gmcp, members)
  }

  static func msdp(_ data: [UInt8]) -> [UInt8] { object(.msdp, [(MemberName.data, data)]) }

  /// The value of `Portcullis-Resume`.
  static func resume(_ id: String, received: Int) -> String { "\(id);received=\(received)" }

  fileprivate static func object(_ kind: MessageKind, _ members: [(String, [UInt8])]) -> [UInt8] {
    var bytes = Array("{\"\(MemberName.type)\":".utf8) + JSONText.quoted(kind.rawValue)
    for (name, value) in members { bytes += Array(",\"\(name)\":".utf8) + value }
    return bytes + [UInt8(ascii: "}")]
  }

  fileprivate static func list(_ texts: [String]) -> [UInt8] {
    [UInt8(ascii: "[")] + texts.map(JSONText.quoted).joined(separator: [UInt8(ascii: ",")])
      + [UInt8(ascii: "]")]
  }

  /// RFC 4648 §5, without padding.
  fileprivate static func base64URL(_ bytes: [UInt8]) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value = 0
      for byte in group { value = value << 8 | Int(byte) }
      value <<= 8 * (3 - group.count)
      for sextet in 0...group.count { text.append(alphabet[value >> (18 - 6 * sextet) & 63]) }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
