/// What the key store's words are to a peer: one table for those that are said at once and those that follow
/// (docs/protocol.md, "Admission" and "Registration").
internal import AppAttest
package import Bytes
package import KeyStore
internal import PortcullisProtocol

extension Refusal {
  /// Nil for a change that was made.
  package init?(_ result: CommitResult, of keyID: KeyIdentifier) {
    switch result {
    case .committed: return nil
    case .failed: self.init(.storeUnavailable, step: "commit_failed", keyID: keyID)
    case .lost(let loss): self.init(because: loss, keyID)
    }
  }

  /// Nil for a counter that is on its way.
  package init?(_ verdict: CounterVerdict, of keyID: KeyIdentifier) {
    switch verdict {
    case .accepted: return nil
    case .unknownKey: self.init(because: .unknownKey, keyID)
    case .revoked: self.init(because: .revoked, keyID)
    case .replayed(let stored): self.init(because: .replayed(stored: stored), keyID)
    case .unavailable: self.init(.storeUnavailable, step: "store", keyID: keyID)
    }
  }

  /// Nil for a key that is on its way.
  package init?(_ verdict: RegisterVerdict, of keyID: KeyIdentifier) {
    switch verdict {
    case .accepted: return nil
    case .revoked: self.init(because: .revoked, keyID)
    case .full: self.init(because: .full, keyID)
    case .unavailable: self.init(.storeUnavailable, step: "store", keyID: keyID)
    }
  }

  private init(because loss: CommitResult.Loss, _ keyID: KeyIdentifier) {
    switch loss {
    case .unknownKey: self.init(.keyUnknown, step: "key_unknown", keyID: keyID)
    case .revoked: self.init(.keyRevoked, step: "key_revoked", keyID: keyID)
    case .replayed:
      self.init(.assertionRejected, step: AssertionError.signCount.step.rawValue, keyID: keyID)
    case .full: self.init(.storeUnavailable, step: "store_full", keyID: keyID)
    case .spent: self.init(.nonceInvalid, step: NonceRefusal.used.rawValue, keyID: keyID)
    }
  }
}
