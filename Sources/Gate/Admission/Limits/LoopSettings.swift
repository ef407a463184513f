/// What a loop goes by, made of the configuration: limits in the form in which they are asked for.
internal import Addresses
package import AppAttest
package import Configuration
package import HTTPWire
internal import PortcullisProtocol
package import SessionWire
package import Time
package import TLS
package import WebSocketWire

/// The settings a loop works by; a reload replaces them whole.
package struct LoopSettings: Sendable {
  package let limits: Limits
  package let tls: TLSServerContext
  package let proxies: GateConfiguration.Proxies
  package let backendProxyProtocol: GateConfiguration.ProxyProtocol
  package let origins: AllowedOrigins
  package let requiresAppAuth: Bool
  /// Whether a verified client certificate admits; never in production.
  package let allowsClientCertificate: Bool
  /// Whether everybody learns which rule a refusal is about; in production services alone do.
  package let tellsSteps: Bool
  package let messageType: GateConfiguration.MessageType
  package let compression: GateConfiguration.Compression
  package let telnet: GateConfiguration.Telnet
  package let sessions: GateConfiguration.Sessions
  package let subprotocols: SubprotocolPolicy
  package let packagesToldAgain: AgainSelection
  package let policy: AttestationPolicy
  /// Whether the `/attest/` endpoints exist.
  package let attests: Bool
  package let headLimits: RequestParser.Limits
  package let frameLimits: FrameDecoder.Limits
  package let handshakeAllowance: RateTable.Allowance
  package let challengeAllowance: RateTable.Allowance
  package let registerAllowance: RateTable.Allowance
  package let deviceAllowance: RateTable.Allowance
  package let serviceAllowance: RateTable.Allowance

  package init(_ configuration: GateConfiguration, policy: AttestationPolicy, tls: TLSServerContext) {
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
  package func takes(_ terms: CertificateTerms?, at now: UnixTime) -> Bool {
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
