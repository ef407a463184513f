/// What a file holds that is to be judged, told by its content.
internal import JSON

package enum RecordKind: String, CaseIterable, Sendable {
  /// A case, or a file of them: what is not one of the others.
  case recorded
  /// The result of a request.
  case approval
  /// A chain of certificates.
  case androidKey = "android-key"
  /// A token.
  case playIntegrity = "play-integrity"

  /// More is looked at by nobody: results, chains and tokens are shorter.
  package static let longest = 1 << 20

  package var title: String {
    switch self {
    case .recorded: "a recorded case"
    case .approval: "the result of a request for an approval"
    case .androidKey: "an Android key attestation"
    case .playIntegrity: "a token of Play Integrity"
    }
  }

  package init(recognising bytes: Span<UInt8>) {
    self = .recorded
    guard bytes.count <= Self.longest else { return }
    var start = 0
    while start < bytes.count, bytes[start] <= 0x20 { start += 1 }
    let text = bytes.extracting(start...)
    if Self.begins(text, "{") {
      guard let object = try? JSONValue(parsing: text, depthLimit: 16).object, object["kind"] == nil else {
        return
      }
      if object["x5c"] != nil || object["approval_x5c"] != nil { self = .androidKey }
      if object["id"] != nil, object["state"] != nil { self = .approval }
    } else if Self.begins(text, "-----BEGIN") {
      self = .androidKey
    } else if Self.isToken(text) {
      self = .playIntegrity
    }
  }

  private static func begins(_ text: Span<UInt8>, _ word: StaticString) -> Bool {
    let word = Array("\(word)".utf8)
    guard text.count >= word.count else { return false }
    return word.indices.allSatisfy { text[$0] == word[$0] }
  }

  /// A compact form of RFC 7515 or RFC 7516: three or five parts of base64url.
  private static func isToken(_ text: Span<UInt8>) -> Bool {
    var (points, end) = (0, text.count)
    while end > 0, text[end - 1] == 0x0A || text[end - 1] == 0x0D { end -= 1 }
    for index in 0..<end {
      switch text[index] {
      case UInt8(ascii: "."): points += 1
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): break
      default: return false
      }
    }
    return points == 2 || points == 4
  }
}
