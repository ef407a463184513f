/// Whom failed evidence speaks against, by its kind and the step that it fails at.
import Bytes
import DeviceWire
import Registry
import Testing

@testable import Gateway

@Suite struct AttestationBlameTests {
  private static let attestation = EvidenceForm.attestation(KeyIdentifier(Bytes32()), [])
  private static let assertion = EvidenceForm.assertion(KeyIdentifier(Bytes32()), [])
  private static let play = EvidenceForm.playIntegrity([])
  private static let chain = EvidenceForm.androidKey([], approval: nil)

  /// The device's is what is certainly over its keys and the challenge.
  @Test(
    arguments: [
      (attestation, "cbor", .sender), (attestation, "leaf_app_id", .sender),
      (attestation, "counter", .device),
      (attestation, "aaguid", .device), (assertion, "signature", .sender), (assertion, "authdata", .device),
      (assertion, "counter", .device), (assertion, "launch_policy", .device),
      (assertion, "key_unknown", .sender),
      (assertion, "app_id", .gate), (assertion, "key_imported", .gate), (attestation, "no_app", .gate),
      (play, "jwe_unwrap", .sender), (play, "nonce", .sender), (play, "stale", .device),
      (play, "level", .device),
      (play, "no_play_keys", .gate), (chain, "root", .sender), (chain, "boot_state", .sender),
      (chain, "revocation_stale", .gate), (chain, "revoked", .sender),
    ] as [(EvidenceForm, String, AttestationBlame)])
  func steps(of form: EvidenceForm, step: String, blame: AttestationBlame) {
    #expect(form.blame(whereFailing: step) == blame)
  }
}
