/// What a gate answers a phone: read as strictly as a phone should that has to show it to a person.
internal import Bytes
package import DeviceWire
internal import JSON

/// Keys by which the gate is known from now on.
struct PhonePins {
  /// SHA-256 of each SPKI, the one in service first.
  let hashes: [Bytes32]

  /// Nil where they are missing, none, or not all of that form: a phone without pins would believe anybody.
  init?(_ object: JSONObject) {
    guard let texts = object["pins"]?.array, !texts.isEmpty, texts.count <= 16 else { return nil }
    let hashes = texts.compactMap { text in
      text.string.flatMap { Base64.decode(Array($0.utf8).span) }.flatMap { Bytes32($0) }
    }
    guard hashes.count == texts.count else { return nil }
    self.hashes = hashes
  }
}

/// A token with its end, in Unix seconds.
package struct PhoneToken: Equatable, Sendable {
  package let text: String
  /// Nil where the gate has not said; it says so when the time has come.
  package let expiresAt: Int64?

  init?(_ text: String?, expiresAt: Int64?) {
    // What stands in a field of a request (RFC 6750 §2.1).
    guard let text, (1...4096).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.text = text
    self.expiresAt = expiresAt
  }

  /// Whether it is worth to be sent.
  func isGood(at seconds: Int64) -> Bool { expiresAt.map { seconds + 10 < $0 } ?? true }
}

/// How a gate sees the phone.
package struct PhoneStanding: Equatable, Sendable {
  package let status: String?
  package let level: Level
  package let userVerification: UserVerification

  init?(_ object: JSONObject) {
    guard let level = object["level"]?.string.flatMap({ Level(rawValue: $0) }),
      let verification = object["uv"]?.string.flatMap({ UserVerification(rawValue: $0) })
    else { return nil }
    status = object["status"]?.string
    self.level = level
    userVerification = verification
  }
}

/// One request that waits for this phone's person.
package struct OpenApproval: Equatable, Sendable {
  package let id: ApprovalID
  /// What is shown is what was read of the bytes that are signed, and nothing besides.
  package let summary: Summary
  /// How many digits the requester has been shown; 0: none.
  package let matchDigits: Int
  package let expiresAt: UnixSeconds

  /// Nil for a summary that is not in its canonical form, or holds what a screen shows otherwise than it is.
  init?(_ value: JSONValue) {
    guard let object = value.object, let id = object["id"]?.string.flatMap({ ApprovalID($0) }),
      let bytes = object["summary"]?.string.flatMap({ Base64.decode(Array($0.utf8).span) }),
      let summary = try? Summary(canonical: bytes.span),
      let digits = object["match_digits"]?.integer, digits == 0 || (2...6).contains(digits),
      let expiresAt = object["expires_at"]?.integer.flatMap({ UnixSeconds($0) })
    else { return nil }
    self.id = id
    self.summary = summary
    matchDigits = Int(digits)
    self.expiresAt = expiresAt
  }
}

package struct OpenApprovals: Equatable, Sendable {
  package let items: [OpenApproval]
  package let cursor: String

  init?(_ object: JSONObject) {
    guard let values = object["items"]?.array, let cursor = object["cursor"]?.string,
      PhoneCursor.isOne(cursor)
    else { return nil }
    let items = values.compactMap { OpenApproval($0) }
    guard items.count == values.count else { return nil }
    self.items = items
    self.cursor = cursor
  }
}

/// Where a list goes on: whatever a gate likes, as long as a query can hold it.
enum PhoneCursor {
  static func isOne(_ text: String) -> Bool {
    text.utf8.count <= 64 && text.utf8.allSatisfy(isUnreserved)
  }

  /// RFC 3986 §2.3.
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }
}

/// What has come of a vote.
package struct VoteOutcome: Equatable, Sendable {
  package let state: String
  package let votesNeeded: Int64

  init?(_ object: JSONObject) {
    guard let state = object["state"]?.string, let needed = object["votes_needed"]?.integer, needed >= 0
    else {
      return nil
    }
    self.state = state
    votesNeeded = needed
  }
}

extension PhoneChallenge {
  init?(_ object: JSONObject) {
    guard let nonce = object["nonce"]?.string.flatMap({ Bytes32(hex: $0) }),
      let server = object["server_id"]?.string.flatMap({ ServerID($0) })
    else { return nil }
    self.init(nonce: nonce, server: server)
  }
}
