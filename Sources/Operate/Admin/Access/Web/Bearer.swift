/// `Authorization: Bearer` (RFC 6750 §2.1); other schemes are somebody else's, a proxy's before us, say.
internal import Bytes
internal import HTTPWire

enum Bearer: Equatable {
  case none
  /// Not one that could be ours, or more than one.
  case malformed
  /// By the hash of what is shown.
  case shown(Bytes32)

  init(_ head: RequestHead) {
    var found: [Substring] = []
    for index in 0..<head.fieldCount {
      let field = head.field(at: index)
      guard field.name.lowercased() == "authorization" else { continue }
      let words = field.value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      guard words.first?.lowercased() == "bearer" else { continue }
      found.append(words.count == 2 ? words[1] : "")
    }
    if found.isEmpty {
      self = .none
    } else if found.count == 1, let hash = AdminToken.hash(of: found[0]) {
      self = .shown(hash)
    } else {
      self = .malformed
    }
  }
}
