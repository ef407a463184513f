/// When the next attempt to connect is made, and which refusals are final.
internal import PortcullisProtocol

struct Retries {
  enum Verdict: Equatable {
    case atOnce
    /// With another key.
    case renewKey
    /// Seconds from now.
    case after(Double)
    case never
  }

  private var failures = 0
  private var hasUsedSecondTry = false
  private var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(state: seed)
  }

  /// Something got through: the next loss is the first one again.
  mutating func succeed() {
    failures = 0
    hasUsedSecondTry = false
  }

  /// A random part of a pause that doubles, so that those who were lost together do not come back together.
  mutating func pause() -> Double {
    random.fraction() * doubled(SessionLimit.firstPause, SessionLimit.longestPause)
  }

  /// How long to wait after a failure of this kind; infinity: until something happens.
  mutating func pause(after kind: GameFailure.Kind) -> Double {
    switch kind {
    case .offline: SessionLimit.offlinePause
    case .untrusted:
      (0.8 + 0.2 * random.fraction())
        * doubled(SessionLimit.untrustedPause, SessionLimit.longestUntrustedPause)
    case .interference:
      (0.8 + 0.2 * random.fraction())
        * doubled(SessionLimit.interferencePause, SessionLimit.longestInterferencePause)
    case .pinMismatch: .infinity
    default: pause()
    }
  }

  private mutating func doubled(_ first: Double, _ longest: Double) -> Double {
    defer { failures += 1 }
    return min(longest, first * Double(1 << min(failures, 10)))
  }

  mutating func judge(_ refusal: GateRefusal) -> Verdict {
    let retryAfter = refusal.retryAfter
    guard refusal.code != nil else {
      let pause = pause(after: .interference)
      return .after(max(retryAfter ?? 0, pause))
    }
    switch refusal.known {
    case .nonceInvalid: return secondTry() ?? later(retryAfter)
    case .keyUnknown: return .renewKey
    case .assertionRejected: return secondTry() ?? .renewKey
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
    case nil: return refusal.status == 429 || refusal.status >= 500 ? later(retryAfter) : .never
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
}
