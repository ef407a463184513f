/// From what a phone says and what the gate knows to reasons (docs/risk.md, "Reasons"). What a policy makes of them is
/// `RiskPolicy`'s affair.
package import Addresses
package import DeviceWire

/// What one request for a code is judged by.
package struct RiskQuestion: Sendable {
  package let signals: Signals
  package let time: UnixSeconds
  /// Of the address that the request comes from.
  let place: Place
  /// Of the same device; nil for its first request.
  package var previous: RiskRecord?
  /// As year and month, such as 202501; nil where none is asked for.
  package var minimumPatch: Int?
  package var attestFailedAt: UnixSeconds?
  /// Nil where it is not known.
  package var platform: DevicePlatform?

  package init(
    signals: Signals, at time: UnixSeconds, place: Place, previous: RiskRecord?, minimumPatch: Int? = nil,
    attestFailedAt: UnixSeconds? = nil, platform: DevicePlatform? = nil
  ) {
    self.signals = signals
    self.time = time
    self.place = place
    self.previous = previous
    self.minimumPatch = minimumPatch
    self.attestFailedAt = attestFailedAt
    self.platform = platform
  }

  private var position: Position? { Position(signals) }

  /// What it leaves behind.
  package var record: RiskRecord {
    let current = RiskRecord(at: time, position: position, place: place)
    return previous.map { current.completed(by: $0) } ?? current
  }

  /// Since the position before; nil where one of the two is not known.
  fileprivate var travel: Travel? {
    guard let start = previous?.position, let position else { return nil }
    return Travel(from: start, to: RiskRecord.Part(position, at: time))
  }
}

package struct RiskFindings: Equatable, Sendable {
  /// What holds, in the order of `RiskReason`.
  package internal(set) var reasons: [RiskReason] = []
  /// What may hold, as something is not known that it takes to say so. A position that is unknown is a reason as well.
  package internal(set) var unknown: [RiskReason] = []
  /// Nil where one of the two positions is not known.
  package internal(set) var travel: Travel?

  package init() {}
}

package enum RiskJudge {
  package static func findings(_ question: RiskQuestion) -> RiskFindings {
    var findings = RiskFindings()
    findings.travel = question.travel
    for reason in RiskReason.allCases {
      switch answer(reason, question, findings.travel) {
      case true?: findings.reasons.append(reason)
      case false?: break
      case nil: findings.unknown.append(reason)
      }
    }
    if findings.reasons.contains(.positionUnknown) { findings.unknown.append(.positionUnknown) }
    return findings
  }

  /// Nil where nobody can say.
  private static func answer(_ reason: RiskReason, _ question: RiskQuestion, _ travel: Travel?) -> Bool? {
    let signals = question.signals
    let (before, now) = (question.previous, question.place)
    return switch reason {
    case .mockLocation: signals.mockLocation
    // Nothing of it is on an iPhone.
    case .debugBridge: signals.debugBridge ?? (question.platform == .ios ? false : nil)
    case .emulator: signals.emulator
    case .debugger: signals.debugger
    case .rooted: signals.rooted
    case .oldPatch: isPatchOld(question)
    case .timeZoneMismatch: isElsewhere(question)
    case .impossibleTravel: travel?.isImpossible
    case .networkChange: differ(before?.network?.value, now.network)
    case .countryChange: differ(before?.country?.value, now.country)
    case .countryMismatch: isForeign(signals, now)
    case .positionUnknown: Position(signals) == nil
    case .attestFailed: question.attestFailedAt.map { question.time - $0 < failureSeconds } ?? false
    }
  }

  private static func differ<Value: Equatable>(_ first: Value?, _ second: Value?) -> Bool? {
    guard let first, let second else { return nil }
    return first != second
  }

  private static func isElsewhere(_ question: RiskQuestion) -> Bool? {
    guard let zone = TimeZoneName(question.signals.timeZone),
      let place = TimeZoneName(question.place.timeZone)
    else { return nil }
    return zone.differs(from: place, at: question.time)
  }

  private static func isPatchOld(_ question: RiskQuestion) -> Bool? {
    guard let minimum = question.minimumPatch else { return false }
    guard let patch = question.signals.patchMonth else {
      return question.platform == .ios ? false : nil
    }
    return patch < minimum
  }

  private static func isForeign(_ signals: Signals, _ place: Place) -> Bool? {
    guard let code = signals.countryOfNetwork, let country = place.country else { return nil }
    let countries = MobileCountries.of(code)
    return countries.isEmpty ? nil : !countries.contains(country)
  }

  /// How long a failed attestation is held against a device.
  private static let failureSeconds: Int64 = 86_400
}

extension Signals {
  /// As year and month, such as 202501.
  var patchMonth: Int? {
    guard let patchLevel else { return nil }
    return Int(String(decoding: patchLevel.utf8.prefix(7).filter { $0 != UInt8(ascii: "-") }, as: UTF8.self))
  }

  /// The first three digits of `mcc_mnc`.
  var countryOfNetwork: Int? {
    network.flatMap { Int(String(decoding: $0.utf8.prefix(3), as: UTF8.self)) }
  }
}
