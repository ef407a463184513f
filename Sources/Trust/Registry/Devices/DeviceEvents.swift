/// What the audit calls what happens to devices.

extension AuditEntry.Event {
  static let deviceEnrolled = Self("device_enrolled")
  /// Confirmed, by an operator or by evidence.
  static let deviceActivated = Self("device_activated")
  static let deviceAttested = Self("device_attested")
  static let attestationFailed = Self("attestation_failed")
  /// What vouched for it was revoked: its App Attest key, or a certificate of its keys' chains.
  static let deviceUnattested = Self("device_unattested")
  static let deviceRotated = Self("device_rotated")
  /// It has said something else of itself than before, under its signature.
  static let deviceReported = Self("device_reported")
  static let deviceAssigned = Self("device_assigned")
  static let deviceRenamed = Self("device_renamed")
  static let deviceExcepted = Self("device_excepted")
  static let deviceRevoked = Self("device_revoked")
  static let deviceForgotten = Self("device_forgotten")
  /// Nobody has confirmed it in its day.
  static let deviceExpired = Self("device_expired")
  static let tokenKeysChanged = Self("token_keys_changed")
}
