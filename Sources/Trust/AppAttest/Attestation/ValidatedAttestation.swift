/// What a good attestation proves: this key lives in a genuine device, made by a genuine copy of this app.
package import Bytes
package import Identity

package struct ValidatedAttestation: Equatable, Sendable {
  package let keyID: KeyIdentifier
  package let publicKey: P256Point
  package let appID: AppID
  package let environment: AttestEnvironment
  /// Nil from iOS 26 and older.
  package let validationCategory: UInt32?
  package let bundleVersion: String?
  /// Opaque, and not covered by the nonce: not to be believed before it is verified on its own.
  package let receipt: [UInt8]
}
