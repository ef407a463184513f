/// The endpoints of devices, services and approvals: by whole path and method, and what each of them asks of a request
/// (docs/protocol-devices.md, "Devices").
package import DeviceWire
package import HTTPWire

package enum DeviceEndpoint: Equatable {
  case enroll, attest, token, rotate, heartbeat, introspect
  /// `GET /device/self`.
  case ownDevice
  case openPairing
  case answerPairing(PairingID), pairing(PairingID), confirmPairing(PairingID)
  /// Those that wait for a device.
  case approvals
  case requestApproval
  case approval(ApprovalID), decide(ApprovalID), cancelApproval(ApprovalID)
  case useLease(LeaseID), endLease(LeaseID)
  case askPresence, provePresence
  /// `GET /auth/otp`: logins that wait for a device's code.
  case codes
  case challengeCode, issueCode, verifyCode
  case keySet

  /// Whose token has to come with it.
  package enum Bearer: Equatable {
    /// What is signed in the body says who asks.
    case nobody
    case device
    case service
  }

  package func bearer(_ query: DeviceQuery) -> Bearer {
    switch self {
    case .enroll, .attest, .token, .rotate, .answerPairing, .keySet: .nobody
    // The phone shows what it has committed to; else it is the service that has asked for the pairing.
    case .pairing: query[.reveal] == nil ? .service : .nobody
    case .ownDevice, .heartbeat, .approvals, .decide, .codes, .issueCode: .device
    case .introspect, .openPairing, .confirmPairing, .requestApproval, .approval, .cancelApproval, .useLease,
      .endLease, .askPresence, .provePresence, .challengeCode, .verifyCode:
      .service
    }
  }

  package var hasBody: Bool {
    switch self {
    case .enroll, .attest, .token, .rotate, .heartbeat, .introspect, .openPairing, .answerPairing,
      .confirmPairing, .requestApproval, .decide, .useLease, .askPresence, .provePresence,
      .challengeCode, .issueCode, .verifyCode:
      true
    case .ownDevice, .pairing, .approvals, .approval, .cancelApproval, .endLease, .codes, .keySet: false
    }
  }

  /// Whether a request that is answered is worth a line of the log.
  package var changesSomething: Bool {
    switch self {
    case .enroll, .attest, .rotate, .openPairing, .answerPairing, .confirmPairing, .requestApproval, .decide,
      .cancelApproval, .useLease, .endLease, .provePresence, .challengeCode, .issueCode, .verifyCode:
      true
    case .token, .heartbeat, .introspect, .ownDevice, .pairing, .approvals, .approval, .askPresence, .codes,
      .keySet:
      false
    }
  }

  /// As the log names it.
  package var word: String {
    switch self {
    case .enroll: "enroll"
    case .attest: "attest"
    case .token: "token"
    case .rotate: "rotate"
    case .heartbeat: "heartbeat"
    case .introspect: "introspect"
    case .ownDevice: "self"
    case .openPairing: "pair"
    case .answerPairing, .pairing: "pairing"
    case .confirmPairing: "confirm"
    case .approvals: "approvals"
    case .requestApproval: "request"
    case .approval: "approval"
    case .decide: "decision"
    case .cancelApproval: "cancel"
    case .useLease: "lease_use"
    case .endLease: "lease_end"
    case .askPresence: "presence_challenge"
    case .provePresence: "presence"
    case .codes: "codes"
    case .challengeCode: "otp_challenge"
    case .issueCode: "otp_issue"
    case .verifyCode: "otp_verify"
    case .keySet: "jwks"
    }
  }

  /// Members that its query may have.
  package var queryNames: Set<DeviceQuery.Name> {
    switch self {
    case .approvals, .codes: [.after, .wait]
    case .approval: [.wait]
    case .pairing: [.reveal, .wait]
    case .enroll, .attest, .token, .rotate, .heartbeat, .introspect, .ownDevice, .openPairing, .answerPairing,
      .confirmPairing, .requestApproval, .decide, .cancelApproval, .useLease, .endLease, .askPresence,
      .provePresence, .challengeCode, .issueCode, .verifyCode, .keySet:
      []
    }
  }
}

/// What a path names.
package enum DeviceResource {
  package enum Found: Equatable {
    case endpoint(DeviceEndpoint)
    case notFound
    case methodNotAllowed(allow: String)
  }

  /// Endpoints of one path by method, in the order in which `Allow` names them.
  private typealias Methods = [(method: RequestHead.Method, endpoint: DeviceEndpoint)]

  /// Where nobody's upgrades lie, whether there is an endpoint or not.
  private static let folders = ["/device/", "/pair/", "/approvals/", "/leases/", "/auth/otp/", "/presence/"]
  private static let singles = [
    "/mobile/attest", "/pair", "/approvals", "/auth/otp", "/.well-known/jwks.json",
  ]

  /// Where a request goes that is about devices; nil for one that is not.
  package static func find(_ head: RequestHead) -> Found? {
    guard folders.contains(where: head.pathBegins) || singles.contains(where: head.pathIs) else { return nil }
    guard let methods = methods(of: head.path) else { return .notFound }
    if let found = methods.first(where: { $0.method == head.method }) { return .endpoint(found.endpoint) }
    return .methodNotAllowed(allow: methods.map(\.method.name).joined(separator: ", "))
  }

  private static func methods(of path: String) -> Methods? {
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    switch (segments[0], segments.count) {
    case ("device", 2): return methods(ofDevices: segments[1])
    case ("mobile", 2) where segments[1] == "attest": return [(.post, .attest)]
    case ("pair", _): return methods(ofPairings: segments)
    case ("approvals", _): return methods(ofApprovals: segments)
    case ("leases", _): return methods(ofLeases: segments)
    case ("auth", 2...3) where segments[1] == "otp": return methods(ofCodes: segments)
    case ("presence", 2) where segments[1] == "challenge": return [(.post, .askPresence)]
    case ("presence", 2) where segments[1] == "verify": return [(.post, .provePresence)]
    case (".well-known", 2) where segments[1] == "jwks.json": return [(.get, .keySet)]
    default: return nil
    }
  }

  private static func methods(ofDevices name: String) -> Methods? {
    switch name {
    case "enroll": [(.post, .enroll)]
    case "token": [(.post, .token)]
    case "self": [(.get, .ownDevice)]
    case "rotate": [(.post, .rotate)]
    case "heartbeat": [(.post, .heartbeat)]
    case "introspect": [(.post, .introspect)]
    default: nil
    }
  }

  private static func methods(ofPairings segments: [String]) -> Methods? {
    if segments.count == 1 { return [(.post, .openPairing)] }
    guard let id = PairingID(segments[1]) else { return nil }
    switch segments.count {
    case 2: return [(.get, .pairing(id)), (.post, .answerPairing(id))]
    case 3 where segments[2] == "confirm": return [(.post, .confirmPairing(id))]
    default: return nil
    }
  }

  private static func methods(ofApprovals segments: [String]) -> Methods? {
    if segments.count == 1 { return [(.get, .approvals), (.post, .requestApproval)] }
    guard let id = ApprovalID(segments[1]) else { return nil }
    switch segments.count {
    case 2: return [(.get, .approval(id)), (.delete, .cancelApproval(id))]
    case 3 where segments[2] == "decision": return [(.post, .decide(id))]
    default: return nil
    }
  }

  private static func methods(ofCodes segments: [String]) -> Methods? {
    switch segments.count == 3 ? segments[2] : nil {
    case nil: return [(.get, .codes)]
    case "challenge": return [(.post, .challengeCode)]
    case "issue": return [(.post, .issueCode)]
    case "verify": return [(.post, .verifyCode)]
    default: return nil
    }
  }

  private static func methods(ofLeases segments: [String]) -> Methods? {
    guard segments.count >= 2, let id = LeaseID(segments[1]) else { return nil }
    switch segments.count {
    case 2: return [(.delete, .endLease(id))]
    case 3 where segments[2] == "use": return [(.post, .useLease(id))]
    default: return nil
    }
  }
}

extension RequestHead.Method {
  fileprivate var name: String {
    switch self {
    case .get: "GET"
    case .post: "POST"
    case .delete: "DELETE"
    case .head: "HEAD"
    case .other: ""
    }
  }
}
