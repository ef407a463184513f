/// What an attestation is held against, and what a good one proves (docs/android.md, "Key attestation").
package import Bytes
package import DeviceWire

package struct AndroidKeyPolicy: Sendable {
  /// SHA-256 of the roots' `SubjectPublicKeyInfo`.
  package var roots: Set<Bytes32>
  package var required: SecurityLevel
  /// True for a key that a person unlocks.
  package var requiresUserVerification: Bool
  package var apps: [AndroidApp]
  /// The oldest patch level of the system, as YYYYMM; nil for any.
  package var minimumPatch: Int?
  package var now: UnixSeconds
  /// Nil when there is none that can be read: nothing is attested then.
  package var revocation: RevocationList?
  /// Seconds since the list was fetched, negative where that is yet to come; nil when nobody knows.
  package var revocationAge: Int64?
  package var revocationMaximumAge: Int64

  package init(
    roots: Set<Bytes32> = AndroidRoots.google, required: SecurityLevel = .tee,
    requiresUserVerification: Bool = false, apps: [AndroidApp], minimumPatch: Int? = nil, now: UnixSeconds,
    revocation: RevocationList?, revocationAge: Int64?, revocationMaximumAge: Int64 = 604_800
  ) {
    self.roots = roots
    self.required = required
    self.requiresUserVerification = requiresUserVerification
    self.apps = apps
    self.minimumPatch = minimumPatch
    self.now = now
    self.revocation = revocation
    self.revocationAge = revocationAge
    self.revocationMaximumAge = revocationMaximumAge
  }
}

package struct AndroidKeyVerdict: Equatable, Sendable {
  package let level: SecurityLevel
  /// Whether a person unlocks the key at each use, by biometrics, as the hardware says.
  package let hasUserVerification: Bool
  /// Of the system, as YYYYMM; nil where the hardware does not say.
  package let patch: Int?
  /// Of each certificate, the leaf's first: what a newer revocation list is asked about.
  package let serials: [CertificateSerial]
  /// The known app's.
  package let package: String
}
