/// What a device may lack for its class by an operator's word, one by one (docs/devices-operating.md, "A device's life").
internal import ApprovalPolicy
internal import DeviceWire
internal import Time

package struct DeviceLacks: OptionSet, Sendable {
  package let rawValue: Int64

  package init(rawValue: Int64) {
    self.rawValue = rawValue
  }

  static let level = DeviceLacks(rawValue: 1)
  static let verification = DeviceLacks(rawValue: 2)
  /// Google's word for the app.
  static let play = DeviceLacks(rawValue: 4)
  static let presence = DeviceLacks(rawValue: 8)
  /// One that is new enough.
  static let attestation = DeviceLacks(rawValue: 16)
  static let all: DeviceLacks = [.level, .verification, .play, .presence, .attestation]

  private static let named: [(word: String, lack: DeviceLacks)] = [
    ("level", .level), ("uv", .verification), ("play", .play), ("presence", .presence),
    ("attestation", .attestation),
  ]

  /// Nil for a word that names nothing, and for no words.
  init?(words: [String]) {
    var found: DeviceLacks = []
    for word in words {
      guard let named = Self.named.first(where: { $0.word.isSameText(as: word) }) else { return nil }
      found.insert(named.lack)
    }
    guard !found.isEmpty else { return nil }
    self = found
  }

  var words: [String] { Self.named.filter { contains($0.lack) }.map(\.word) }
}

extension DeviceRecord {
  func isExcepted(from lack: DeviceLacks, at now: UnixTime) -> Bool {
    exception.map { now < $0.until && $0.lacks.contains(lack) } ?? false
  }

  /// Whether it is what its class expects, or an operator has excepted it from what it lacks. Nobody is excepted from being
  /// rooted.
  func meets(_ expected: AssuranceClass, at now: UnixTime) -> Bool { lacks(for: expected, at: now).isEmpty }

  /// What it lacks for its class, by the words of exceptions; `rooted` beside them.
  func lacks(for expected: AssuranceClass, at now: UnixTime) -> [String] {
    var lacks: DeviceLacks = []
    if level < expected.level { lacks.insert(.level) }
    if verification < expected.userVerification { lacks.insert(.verification) }
    if expected.needsPlay, platform == .android, !isTrusted(as: expected.playMinimum) { lacks.insert(.play) }
    if let exception, now < exception.until { lacks.subtract(exception.lacks) }
    return (isRooted ? ["rooted"] : []) + lacks.words
  }

  /// One whose trust was not kept had the least that is taken.
  private func isTrusted(as minimum: PlayTrust?) -> Bool {
    playAttestedAt != nil && (playTrust ?? .device) >= (minimum ?? .device)
  }
}
