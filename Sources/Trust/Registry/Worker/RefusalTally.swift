/// Refusals that have no row of their own in the audit, counted for one row a minute: those to whoever is not known, by their
/// codes; and those to a device or a service that has had as many rows in this minute as it gets.
internal import DeviceWire
internal import PortcullisProtocol
internal import Time

struct RefusalTally {
  static let minute: Duration = .seconds(60)
  /// Of one device or service in a minute: whoever is refused more often learns nothing new by it, and nor does who reads
  /// the audit.
  static let rowsOfOne = 30
  /// Of all that are refused something in a minute; others' refusals are counted as strangers'.
  static let parties = 4096

  /// A refusal that is counted.
  enum Counted: Equatable {
    case stranger(RefusalCode)
    case known(AuditEntry.Member)
  }

  private struct Known {
    var rows = 0
    var more = 0
  }

  private var counts: [RefusalCode: Int] = [:]
  private var known: [Party: Known] = [:]
  /// When the rows are due: a minute after the first of them.
  private(set) var due: UnixTime?

  /// Whether a refusal is to have a row of its own; one that has not is to be noted once it is told.
  /// - Parameter asker: whoever is known to ask; nil for strangers.
  /// - Returns: nil for a row.
  mutating func judge(_ code: RefusalCode, to asker: AuditEntry.Member?, at now: UnixTime) -> Counted? {
    guard let asker, let party = asker.party else { return .stranger(code) }
    guard known[party] != nil || known.count < Self.parties else { return .stranger(code) }
    if known[party, default: Known()].rows >= Self.rowsOfOne { return .known(asker) }
    known[party, default: Known()].rows += 1
    begin(now)
    return nil
  }

  mutating func note(_ counted: Counted, count: Int = 1, at now: UnixTime) {
    switch counted {
    case .stranger(let code): counts[code, default: 0] += count
    case .known(let asker):
      guard let party = asker.party else { return }
      known[party, default: Known()].more += count
    }
    begin(now)
  }

  private mutating func begin(_ now: UnixTime) {
    if due == nil { due = UnixTime(milliseconds: now.milliseconds + Self.minute.wholeMilliseconds) }
  }

  /// What has come together, in an order that does not depend on chance.
  mutating func take() -> [(counted: Counted, count: Int)] {
    defer { (counts, known, due) = ([:], [:], nil) }
    let strangers = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map {
      (Counted.stranger($0.key), $0.value)
    }
    let others = known.filter { $0.value.more > 0 }.compactMap { party, known in
      party.member.map { (Counted.known($0), known.more) }
    }
    return strangers + others.sorted { "\($0.0)" < "\($1.0)" }
  }
}

extension AuditEntry.Member {
  /// Nil for what nobody asks as.
  fileprivate var party: Party? {
    switch self {
    case .device(let device): .device(device)
    case .service(let service): .service(service)
    default: nil
    }
  }
}

extension Party {
  fileprivate var member: AuditEntry.Member? {
    switch self {
    case .device(let device): .device(device)
    case .service(let service): .service(service)
    case .pairing, .process: nil
    }
  }
}

extension RefusalCode {
  /// Somebody was told no; not that he asked in a wrong form, too often, or for what is not there.
  var isDecision: Bool {
    switch statusCode {
    case 401, 403, 409, 410: true
    default: false
    }
  }
}
