/// A request that waits for the vote of this phone's person.
public import PortcullisProtocol

/// One request. It is made of the bytes that the gate sent, and of nothing else: what is shown is what is signed.
public struct Approval: Equatable, Sendable, Identifiable {
  /// By which the gate knows it.
  public let id: ApprovalID
  /// What is asked. Nil where it cannot be shown as it is: its bytes are not in the one form, or hold characters that hide.
  /// It can be denied and reported then, and not approved.
  public let summary: Summary?
  /// How many digits the person who asks has been shown; 0: none.
  public let matchDigits: Int
  /// When it is over.
  public let expiresAt: UnixSeconds
  /// As they came: what is signed is their hash.
  let bytes: [UInt8]

  /// Nil for an item that nobody could vote on.
  init?(_ tree: JSONTree) {
    guard let object = tree.object, let id = object["id"]?.string.flatMap({ ApprovalID($0) }),
      let bytes = object["summary"]?.string.flatMap({ ByteText.bytes(base64: $0) }),
      let digits = object["match_digits"]?.integer, digits == 0 || (2...6).contains(digits),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    self.id = id
    self.bytes = bytes
    summary = try? Summary(canonical: bytes)
    matchDigits = Int(digits)
    self.expiresAt = expiresAt
  }

  /// Whether it can be shown as it is.
  public var isReadable: Bool { summary != nil }

  /// SHA-256 of the bytes that came.
  var hash: Octets32 { SHA2.hash(bytes) }
}

/// What has come of a vote.
public struct ApprovalState: Equatable, Sendable {
  /// `pending`, `approved`, `denied`, `reported`, `expired` or `cancelled`; others may come.
  public let word: String
  /// How many more have to approve.
  public let votesNeeded: Int64

  init?(_ object: JSONTree.Object) {
    guard let word = object["state"]?.string, let needed = object["votes_needed"]?.integer, needed >= 0
    else { return nil }
    self.word = word
    votesNeeded = needed
  }
}
