/// Whether evidence that comes with an enrolment, or with other keys, is to be judged at all: a device that has failed too
/// often of late has to wait, by whichever way it comes.
internal import DeviceWire
internal import PortcullisProtocol

/// Before anything dear is done about the evidence. Nothing else of the request is judged yet.
package struct AskToAttest: RegistryCall {
  private enum Whose: Sendable {
    case device(DeviceID)
    case key(DevicePublicKey)
  }

  private let whose: Whose

  package var evidenceStep: EvidenceStep { .asked }

  /// - Parameter enrollment: of keys that may be a device's already.
  package init(_ enrollment: EnrollForm) {
    whose = .key(enrollment.keys.device)
  }

  package init(_ rotation: RotateForm) {
    whose = .device(rotation.device)
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    if let device = try device(transaction) { try transaction.requireFewFailures(of: device) }
    return .reply(.permitted)
  }

  private func device(_ transaction: Transaction) throws(CallFailure) -> DeviceID? {
    switch whose {
    case .device(let device): return device
    case .key(let key):
      return try transaction.store.device(withKey: key)?.id
    }
  }
}

extension Transaction {
  func requireFewFailures(of device: DeviceID) throws(CallFailure) {
    guard let wait = devices.waitToAttest(device, from: origin, now: now) else { return }
    throw .refused(RegistryRefusal(.rateLimited, "attest_failures", retryAfter: wait))
  }
}
