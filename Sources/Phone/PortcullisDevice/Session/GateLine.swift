/// Where a device's requests go, and what of the client's types they are made of: the one place that names both halves.
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
internal import PortcullisClient
internal import PortcullisProtocol

struct GateLine: Sendable {
  let transport: any GateTransport

  /// The gate's answer, whatever it is.
  func exchange(
    _ call: DeviceCall, at record: DeviceRecord, token: DeviceToken?
  ) async throws(DeviceFailure) -> DeviceReply {
    var fields: [GateField] = []
    if let token { fields.append(GateField("Authorization", "Bearer \(token.text)")) }
    if call.body != nil { fields.append(GateField("Content-Type", "application/json")) }
    let host = record.host.contains(":") ? "[\(record.host)]" : record.host
    guard let url = URL(string: "https://\(host):\(record.port)\(call.path)") else {
      throw DeviceFailure(.unusable, "no address of a gate: \(record.host)")
    }
    let request = GateRequest(
      url: url, method: call.method, fields: fields, body: call.body,
      timeLimit: Double(call.wait) + DeviceCall.patience)
    let answer: GateAnswer
    do { answer = try await transport.request(request) } catch { throw DeviceFailure(ofTransport: error) }
    return DeviceReply(
      status: answer.status, code: answer.code, retryAfter: answer.retryAfter, trace: answer.trace,
      body: answer.body)
  }
}

extension DeviceFailure {
  fileprivate init(ofTransport error: any Error) {
    if let failure = error as? DeviceFailure {
      self = failure
      return
    }
    switch error as? GateTransportError {
    case .refused(let status, let code, let retryAfter, let trace):
      self = DeviceReply(status: status, code: code, retryAfter: retryAfter, trace: trace).failure
    // The kinds of both halves have the same names.
    case .failed(let kind, let detail): self.init(Kind(kind.description), detail)
    case nil: self.init(error is CancellationError ? .cancelled : .unreachable, "\(error)")
    }
  }

  init(ofKey error: any Error, role: KeyRole) {
    switch error as? DeviceKeyError {
    case .gone where role == .approval:
      self.init(.approvalKeyGone, "the approval key is gone: make a new one by a rotation")
    case .gone: self.init(.keysLost, "the device key is gone: pair the phone anew")
    case .cancelled: self.init(.cancelled, "nobody has unlocked the key")
    case .biometryLocked: self.init(.biometryLocked, "too many wrong faces or fingers")
    case .biometryUnavailable: self.init(.biometryUnavailable, "no face, finger or passcode")
    case .notInteractive: self.init(.notInteractive, "nobody can be asked now")
    case .failed(let detail): self.init(.unusable, detail)
    case nil: self = error as? DeviceFailure ?? DeviceFailure(.unusable, "\(error)")
    }
  }

  init(ofStore error: any Error) {
    switch error as? DeviceStoreError {
    case .locked: self.init(.storage, "what the phone remembers is locked until it is unlocked once")
    case .later: self.init(.storage, "what the phone remembers was written by a later version of the app")
    case .broken(let detail): self.init(.storage, detail)
    case nil: self = error as? DeviceFailure ?? DeviceFailure(.storage, "\(error)")
    }
  }

  init(ofVoucher error: any Error) {
    self = error as? DeviceFailure ?? DeviceFailure(.attestation, "\(error)")
  }
}
