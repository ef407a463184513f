/// What a request about devices waits for before it is a call of the registry.
package import Bytes
internal import DeviceWire
package import Registry

/// What a whole request comes to next.
package enum DeviceStep {
  case call(any RegistryCall)
  /// Evidence is judged first, if the registry has nothing against it.
  case permission(any RegistryCall, EvidenceWork)
  /// The keys that evidence has to name are the registry's to say.
  case keys(AttestForm)
}

/// Evidence, what it has to be over, and what follows when it is good.
package struct EvidenceWork {
  package let form: EvidenceForm
  package let claim: EvidenceClaim
  /// The challenge, where it is spent with the judging and not before: what needs no judging may come twice.
  package var unspent: Bytes32?
  /// What the registry is told if it is not good; nil where there can be no such device yet.
  package let failure: NoteFailedAttestation?
  package let call: (VerifiedEvidence) -> any RegistryCall

  package init(
    form: EvidenceForm, claim: EvidenceClaim, unspent: Bytes32? = nil, failure: NoteFailedAttestation?,
    call: @escaping (VerifiedEvidence) -> any RegistryCall
  ) {
    self.form = form
    self.claim = claim
    self.unspent = unspent
    self.failure = failure
    self.call = call
  }
}
