/// The harnesses by name: each gives a parser any bytes, and what it says of them has to hold.
///
/// Whoever adds one writes its file, rows here and in `scripts/fuzz`, and seeds in `Seeds/<name>`; `make fuzz`
/// and the tests, which replay the seeds, find it by these.
package enum Harness: String, CaseIterable, Sendable {
  case httpHead = "http-head"
  case chunkedBody = "chunked-body"
  case registerBody = "register-body"
  case webSocket = "websocket"
  case sessionMessage = "session-message"
  case gateMessage = "gate-message"
  case cbor
  case attestation
  case assertion
  case authenticatorData = "authenticator-data"
  case certificate
  case snapshot
  case journal
  case configuration
  case proxy
  case json
  case text
  case telnet
  case charset
  case canonicalJSON = "canonical-json"
  case deviceMessage = "device-message"
  case signals
  case deviceForm = "device-form"
  case deviceHead = "device-head"
  case deviceToken = "device-token"
  case auditHead = "audit-head"
  case approvalPolicy = "approval-policy"
  case androidKey = "android-key"
  case revocationList = "revocation-list"
  case playToken = "play-token"
  case riskPolicy = "risk-policy"
  case maxMindData = "maxmind-data"
  case slot
  case luggage
  case adminRequest = "admin-request"
  case adminAccess = "admin-access"
  case goldfinch
  case history

  package func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    switch self {
    case .httpHead: try HTTPHeadHarness.check(bytes)
    case .chunkedBody: try ChunkedHarness.check(bytes)
    case .registerBody: try RegistrationHarness.check(bytes)
    case .webSocket: try WebSocketHarness.check(bytes)
    case .sessionMessage: try SessionMessageHarness.check(bytes)
    case .gateMessage: try GateMessageHarness.check(bytes)
    case .cbor: try CBORHarness.check(bytes)
    case .attestation: try AttestationHarness.check(bytes)
    case .assertion: try AssertionHarness.check(bytes)
    case .authenticatorData: try AuthenticatorDataHarness.check(bytes)
    case .certificate: try CertificateHarness.check(bytes)
    case .snapshot: try SnapshotHarness.check(bytes)
    case .journal: try JournalHarness.check(bytes)
    case .configuration: try ConfigurationHarness.check(bytes)
    case .proxy: try ProxyHarness.check(bytes)
    case .json: try JSONHarness.check(bytes)
    case .text: try TextHarness.check(bytes)
    case .telnet: try TelnetHarness.check(bytes)
    case .charset: try CharsetHarness.check(bytes)
    case .canonicalJSON: try CanonicalJSONHarness.check(bytes)
    case .deviceMessage: try DeviceMessageHarness.check(bytes)
    case .signals: try SignalsHarness.check(bytes)
    case .deviceForm: try DeviceFormHarness.check(bytes)
    case .deviceHead: try DeviceHeadHarness.check(bytes)
    case .deviceToken: try DeviceTokenHarness.check(bytes)
    case .auditHead: try AuditHeadHarness.check(bytes)
    case .approvalPolicy: try ApprovalPolicyHarness.check(bytes)
    case .androidKey: try AndroidKeyHarness.check(bytes)
    case .revocationList: try RevocationListHarness.check(bytes)
    case .playToken: try PlayTokenHarness.check(bytes)
    case .riskPolicy: try RiskPolicyHarness.check(bytes)
    case .maxMindData: try MaxMindDataHarness.check(bytes)
    case .slot: try SlotHarness.check(bytes)
    case .luggage: try LuggageHarness.check(bytes)
    case .adminRequest: try AdminRequestHarness.check(bytes)
    case .adminAccess: try AdminAccessHarness.check(bytes)
    case .goldfinch: try GoldfinchHarness.check(bytes)
    case .history: try HistoryHarness.check(bytes)
    }
  }
}

/// What the parser said; either may be right.
package enum Verdict: Equatable, Sendable {
  case accepted, refused
}

/// A property that does not hold for some bytes: a finding.
package struct BrokenProperty: Error, CustomStringConvertible {
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}

func require(_ holds: Bool, _ property: @autoclosure () -> String) throws(BrokenProperty) {
  if !holds { throw BrokenProperty(property()) }
}
