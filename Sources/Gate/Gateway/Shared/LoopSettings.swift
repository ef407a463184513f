/// What a loop goes by, made of the configuration: limits in the form in which they are asked for.
internal import Addresses
internal import AppAttest
internal import Configuration
internal import HTTPWire
internal import PortcullisProtocol
internal import SessionWire
internal import System
internal import TLS
internal import WebSocketWire

/// The settings a loop works by; a reload replaces them whole.
struct LoopSettings: Sendable {
  let limits: Limits
  let tls: TLSServerContext
  let proxies: GateConfiguration.Proxies
  let backendProxyProtocol: GateConfiguration.ProxyProtocol
  let origins: AllowedOrigins
  let requiresAppAuth: Bool
  /// Whether a verified client certificate admits; never in production.
  let allowsClientCertificate: Bool
  /// Whether everybody learns which rule a refusal is about; in production services alone do.
  let tellsSteps: Bool
  let messageType: GateConfiguration.MessageType
  let compression: GateConfiguration.Compression
  let telnet: GateConfiguration.Telnet
  let sessions: GateConfiguration.Sessions
  let subprotocols: SubprotocolPolicy
  let packagesToldAgain: AgainSelection
  let policy: AttestationPolicy
  /// Whether the `/attest/` endpoints exist.
  let attests: Bool
  let headLimits: RequestParser.Limits
  let frameLimits: FrameDecoder.Limits
  let handshakeAllowance: RateTable.Allowance
  let challengeAllowance: RateTable.Allowance
  let registerAllowance: RateTable.Allowance
  let deviceAllowance: RateTable.Allowance
  let serviceAllowance: RateTable.Allowance

  init(_ configuration: GateConfiguration, policy: AttestationPolicy, tls: TLSServerContext) {
    limits = configuration.limits
    self.tls = tls
    proxies = configuration.proxies
    backendProxyProtocol = configuration.backend.proxyProtocol
    origins = configuration.origins
    requiresAppAuth = configuration.requiresAppAuth
    allowsClientCertificate = configuration.mtls.fallback
    tellsSteps = !configuration.isProduction
    messageType = configuration.messageType
    compression = configuration.compression
    telnet = configuration.telnet
    sessions = configuration.sessions
    subprotocols = SubprotocolPolicy(configuration)
    packagesToldAgain = AgainSelection(words: sessions.packagesToldAgain) ?? .usual
    self.policy = policy
    attests = !policy.apps.isEmpty
    headLimits = RequestParser.Limits(headBytes: limits.httpHeadBytes, fields: Limits.headFields)
    frameLimits = FrameDecoder.Limits(frameBytes: limits.frameBytes, messageBytes: limits.messageBytes)
    handshakeAllowance = RateTable.Allowance(limits.handshakeRate)
    challengeAllowance = RateTable.Allowance(limits.challengeRate)
    registerAllowance = RateTable.Allowance(limits.registerRate)
    deviceAllowance = RateTable.Allowance(limits.deviceRate)
    serviceAllowance = RateTable.Allowance(limits.serviceRate)
  }

  /// Whether a client certificate that was found good on these terms admits now.
  /// - Parameter terms: nil where they were not noted.
  func takes(_ terms: CertificateTerms?, at now: UnixTime) -> Bool {
    allowsClientCertificate && terms.map { tls.stillTakes($0, at: now) } ?? true
  }
}

extension SubprotocolPolicy {
  /// As the operator says; an echo is no game, and has no telnet to be spoken.
  fileprivate init(_ configuration: GateConfiguration) {
    var words = configuration.sessions.subprotocols
    if configuration.backend.target == .echo {
      words = words.filter { Subprotocol(rawValue: $0)?.isRaw ?? true }
    }
    do throws(SubprotocolPolicyError) {
      self = try SubprotocolPolicy(words: words)
    } catch {
      self = .nothing
    }
  }
}

extension RateTable.Allowance {
  fileprivate init(_ rate: Rate) {
    self.init(count: rate.count, per: rate.per, burst: rate.burst)
  }
}
