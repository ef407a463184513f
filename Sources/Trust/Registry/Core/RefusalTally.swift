/// Refusals to those who are not known, counted for the audit: one row a minute and code, however many there are.
internal import PortcullisProtocol
internal import System

struct RefusalTally {
  static let minute: Duration = .seconds(60)

  private var counts: [RefusalCode: Int] = [:]
  /// When the rows are due: a minute after the first of them.
  private(set) var due: UnixTime?

  mutating func note(_ code: RefusalCode, count: Int = 1, at now: UnixTime) {
    counts[code, default: 0] += count
    if due == nil { due = UnixTime(milliseconds: now.milliseconds + Self.minute.wholeMilliseconds) }
  }

  /// What has come together, in the order of the codes.
  mutating func take() -> [(code: RefusalCode, count: Int)] {
    defer { (counts, due) = ([:], nil) }
    return counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key, $0.value) }
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
