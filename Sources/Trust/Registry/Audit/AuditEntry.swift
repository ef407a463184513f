/// What the audit says of one change or one refusal: names and words, never texts, codes, tokens, nonces or places.
package import Bytes
internal import DeviceWire
internal import JSON
package import PortcullisProtocol
package import Time

package struct AuditEntry: Equatable, Sendable {
  /// What happened, as a word in the past tense. A part of the registry has its own in a file of its own.
  package struct Event: Hashable, Sendable {
    package let word: String

    package init(_ word: String) {
      self.word = word
    }

    /// A decision was refused to somebody who is known.
    package static let refused = Self("refused")
    /// So many more to the same, within a minute.
    package static let refusedMore = Self("refused_more")
    /// So many refusals to others, within a minute.
    package static let strangersRefused = Self("strangers_refused")
    /// Texts of rows before this one were taken out.
    package static let erased = Self("audit_erased")
    /// Rows up to one were thrown away.
    package static let pruned = Self("audit_pruned")
    package static let backedUp = Self("backed_up")
    package static let restored = Self("restored")
    /// A start with the clock behind: all that was open has ended.
    package static let clockBehind = Self("clock_behind")
  }

  package enum Member: Equatable, Sendable {
    case device(DeviceID)
    /// The device whose place another takes, or that takes it.
    case replaced(DeviceID)
    case service(ServiceID)
    case pairing(PairingID)
    case approval(ApprovalID)
    case lease(LeaseID)
    case subject(Subject)
    /// As whom somebody has asked whose bar it was.
    case barRequester(String)
    case level(Level)
    case verification(UserVerification)
    /// Hash of a public key.
    case key(Bytes32)
    case attestedKey(KeyIdentifier)
    /// Hash of a summary.
    case summary(Bytes32)
    case decision(Decision)
    case code(RefusalCode)
    /// The rule that was broken, as the log names it.
    case step(String)
    /// An operator's own, for an exception.
    case reason(String)
    case until(UnixTime)
    case count(Int)
    /// What is not of these: a word of the gate's, or a name that an operator gave to a thing.
    case word(String, String)
    case number(String, Int64)
  }

  package let event: Event
  package let members: [Member]

  package init(_ event: Event, _ members: [Member]) {
    self.event = event
    self.members = members
  }

  /// The canonical form (RFC 8785) of an object of `at`, `event`, the members, and which user of the host asked.
  func text(at time: UnixSeconds, by origin: Origin) -> [UInt8] {
    var all: [CanonicalObject.Member] = [
      .init("at", .integer(time.value)), .init("event", .string(event.word)),
    ]
    switch origin {
    // Where from is said by the log, which is not kept for ever.
    case .address, .gate: break
    case .process(let user, let process):
      all += [.init("uid", .integer(Int64(user))), .init("pid", .integer(Int64(process)))]
    case .console(let name, let user):
      all.append(.init("actor", .string(Member.shown(name))))
      if let user { all.append(.init("uid", .integer(Int64(user)))) }
    }
    for member in members { all.append(member.canonical) }
    do throws(CanonicalJSONError) {
      return try CanonicalObject(all).bytes
    } catch {
      fatalError("a row of the audit for \(event.word) cannot be written: \(error)")
    }
  }

  /// Whom the row is about: what finds it when they are to be forgotten.
  var about: Set<AuditKey> {
    Set(
      members.compactMap { member in
        switch member {
        case .device(let device), .replaced(let device): AuditKey(device)
        case .subject(let subject): AuditKey(subject)
        case .barRequester(let requester): Subject(stored: requester).map { AuditKey($0) }
        default: nil
        }
      })
  }
}

extension AuditEntry {
  /// The same of a row as it was written.
  static func about(text: [UInt8]) -> Set<AuditKey> {
    guard let object = (try? JSONValue(parsing: text.span, depthLimit: 4))?.object else { return [] }
    let devices = ["device_id", "replaced"].compactMap { object[$0]?.string }.compactMap { DeviceID($0) }
    let names = ["subject", "bar_requester"].compactMap { object[$0]?.string }
    let subjects = names.compactMap { Subject(stored: $0) }
    return Set(devices.map { AuditKey($0) } + subjects.map { AuditKey($0) })
  }
}

extension AuditEntry.Member {
  /// What a row says once.
  var name: String { canonical.name }

  fileprivate var canonical: CanonicalObject.Member {
    switch self {
    case .device(let device): .init("device_id", .string(device.text))
    case .replaced(let device): .init("replaced", .string(device.text))
    case .service(let service): .init("service_id", .string(service.text))
    case .pairing(let pairing): .init("pairing_id", .string(pairing.text))
    case .approval(let approval): .init("approval_id", .string(approval.text))
    case .lease(let lease): .init("lease_id", .string(lease.text))
    case .subject(let subject): .init("subject", .string(subject.name))
    case .barRequester(let requester): .init("bar_requester", .string(Self.shown(requester)))
    case .level(let level): .init("level", .string(level.rawValue))
    case .verification(let verification): .init("uv", .string(verification.rawValue))
    case .key(let hash): .init("key", .string(hash.hex))
    case .attestedKey(let key): .init("key_id", .string(key.base64))
    case .summary(let hash): .init("summary", .string(hash.hex))
    case .decision(let decision): .init("decision", .string(decision.rawValue))
    case .code(let code): .init("code", .string(code.rawValue))
    case .step(let step): .init("step", .string(step))
    case .reason(let reason): .init("reason", .string(Self.shown(reason)))
    case .until(let time): .init("until", .integer(UnixSeconds(time).value))
    case .count(let count): .init("count", .integer(Int64(count)))
    case .word(let name, let word): .init(name, .string(Self.shown(word)))
    case .number(let name, let number):
      .init(
        name,
        .integer(min(max(number, CanonicalObject.integers.lowerBound), CanonicalObject.integers.upperBound)))
    }
  }

  /// Without what no text that is shown may hold.
  fileprivate static func shown(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { !ShownText.isRefused($0) }))
  }
}

/// Whom rows are about, without naming them: eight bytes of a hash.
struct AuditKey: Hashable, Sendable {
  let bytes: [UInt8]

  init(_ device: DeviceID) { self.init("device", device.bytes) }
  init(_ subject: Subject) { self.init("subject", Array(subject.name.utf8)) }
}
