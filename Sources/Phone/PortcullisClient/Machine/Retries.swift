/// When the next attempt to connect is made, and which refusals are final.
internal import PortcullisProtocol

struct Retries {
  enum Verdict: Equatable {
    case atOnce
    /// With another key.
    case register
    /// Seconds from now.
    case after(Double)
    case never
  }

  private var failures = 0
  private var hasUsedSecondTry = false
  private var hasUsedNewKey = false
  private var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(state: seed)
  }

  /// Something got through: the next loss is the first one again.
  mutating func succeed() {
    failures = 0
    hasUsedSecondTry = false
    hasUsedNewKey = false
  }

  /// A random part of a pause that doubles, so that those who were lost together do not come back together.
  mutating func pause() -> Double {
    let longest = min(SessionLimit.longestPause, SessionLimit.firstPause * Double(1 << min(failures, 10)))
    failures += 1
    return random.fraction() * longest
  }

  /// - Parameter code: of `Portcullis-Error`; nil if something in between has answered.
  mutating func judge(status: Int, code: String?, retryAfter: Double?, registers: Bool) -> Verdict {
    guard let code else { return later(retryAfter) }
    switch RefusalCode(rawValue: code) {
    case .nonceInvalid: return secondTry() ?? later(retryAfter)
    case .keyUnknown: return newKey(registers) ?? .never
    case .assertionRejected: return secondTry() ?? newKey(registers) ?? .never
    case .superseded, .rateLimited, .overloaded, .shuttingDown, .backendUnavailable, .storeUnavailable,
      .requestTimeout, .internalError, .tooManyOpen, .subjectLocked,
      .quotaExceeded:
      return later(retryAfter)
    case .badRequest, .assertionRequired, .attestationRejected, .originForbidden, .keyRevoked, .notFound,
      .methodNotAllowed, .lengthRequired, .contentTooLarge, .uriTooLong, .unsupportedMediaType,
      .expectationFailed, .upgradeRequired, .headersTooLarge, .notImplemented, .versionNotSupported,
      .clockSkewed, .tokenRejected, .deviceUnknown, .signatureRejected, .attestationStale, .devicePending,
      .deviceRevoked, .levelTooLow, .scopeMissing, .policyRefused, .requesterBarred, .codeRejected,
      .presenceRejected, .presenceRequired, .riskDenied, .leaseMismatch, .noDevice, .notPending,
      .alreadyVoted,
      .keyKnown, .idempotencyConflict, .leaseExhausted, .leaseEnded, .pairingRejected, .clientOutdated:
      return .never
    // A code of later times.
    case nil: return status == 429 || status >= 500 ? later(retryAfter) : .never
    }
  }

  private mutating func later(_ retryAfter: Double?) -> Verdict {
    let pause = pause()
    guard let retryAfter else { return .after(pause) }
    return .after(retryAfter + min(pause, SessionLimit.retrySpread))
  }

  private mutating func secondTry() -> Verdict? {
    if hasUsedSecondTry { return nil }
    hasUsedSecondTry = true
    return .atOnce
  }

  mutating func newKey(_ registers: Bool) -> Verdict? {
    if hasUsedNewKey || !registers { return nil }
    hasUsedNewKey = true
    return .register
  }
}

/// Chance that can be repeated, for spreading attempts and not for secrets (Steele, Lea and Flood, 2014).
private struct SplitMix64 {
  var state: UInt64

  /// From 0 to 1.
  mutating func fraction() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return Double((value ^ value >> 31) >> 11) / Double(1 << 53)
  }
}
