/// What a gate with devices has beside its loops: the registry, and what the door knows of it.
package import Bytes
package import Registry
package import Requests
package import Time

package struct Devices: Sendable {
  package let registry: Registry
  /// The registry's listener.
  package let admitted: AdmittedDevices
  package let android: AndroidEvidence
  package let startOrders = StartOrders()

  package init(registry: Registry, admitted: AdmittedDevices, android: AndroidEvidence = AndroidEvidence()) {
    self.registry = registry
    self.admitted = admitted
    self.android = android
  }

  /// App Attest keys that are revoked and that the registry still has devices by: what they vouched for ends. To be called
  /// before the registry begins; nobody is served before it.
  package func endKeys(_ keys: [KeyIdentifier]) {
    var rest = keys[...]
    while !rest.isEmpty {
      let piece = EndAttestedKeys(Array(rest.prefix(EndAttestedKeys.most)))
      rest = rest.dropFirst(EndAttestedKeys.most)
      // More than a queue of them: the next start finds the rest.
      let done = startOrders.add()
      guard registry.submit(piece, lane: .host, origin: .gate, completion: { _ in done() }) != nil else {
        return done()
      }
    }
  }

  /// The list of revoked certificates is looked at, and what has changed in it comes true.
  package func attendRevocations(now: UnixTime) {
    android.revocations.attend(android.current, registry, now: now, admitted.log, startOrders)
  }
}
