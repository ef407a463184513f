/// What a gate is made of, put together in one place: by `serve`, the demonstration, the bench and tests.
package import AppAttest
internal import Charsets
package import Configuration
package import Crypto
package import Gateway
package import Identity
package import KeyStore
package import Logs
package import System
internal import Time
package import TLS

package struct GateAssembly {
  package let configuration: GateConfiguration
  package let store: KeyStore
  package let root: AttestationRoot
  package let tls: TLSMaterial
  package let log: GateLog
  /// Nil for a game that is not told of devices.
  package var pseudonyms: PseudonymKey?
  /// Nil in a gate without them. The registry is the caller's to stop, after the gate.
  package var devices: Gateway.Devices?

  package init(
    _ configuration: GateConfiguration, store: KeyStore, root: AttestationRoot, tls: TLSMaterial,
    log: GateLog, pseudonyms: PseudonymKey? = nil, devices: Gateway.Devices? = nil
  ) {
    self.configuration = configuration
    self.store = store
    self.root = root
    self.tls = tls
    self.log = log
    self.pseudonyms = pseudonyms
    self.devices = devices
  }

  /// By the host's clock and the kernel's randomness; charsets only where a game may speak one.
  private var parts: Gate.Parts {
    Gate.Parts(
      clock: SystemClock(), entropy: KernelEntropy(), store: store, root: root, tls: tls, log: log,
      pseudonyms: pseudonyms,
      charsets: CharsetLibrary(opening: configuration.sessions.haveTelnet ? Charset.allCases : []),
      devices: devices)
  }

  /// Binds its ports; nobody is served before it starts. To be called before the sandbox is raised.
  /// - Parameters:
  ///   - stored: what was kept for this process.
  ///   - keeper: who keeps such things for the next one.
  package func prepare(
    _ stored: inout StoredDescriptors, _ keeper: DescriptorStore?
  ) throws(Gate.StartError) -> PreparedGate {
    try Gate.prepare(configuration, parts, stored: &stored, store: keeper)
  }

  /// Binds, and serves from then on.
  package func start() throws(Gate.StartError) -> Gate { try Gate.start(configuration, parts) }
}

extension TLSMaterial {
  /// Of a certificate that was made for this run.
  package init(_ made: borrowing SelfSignedCertificate) throws {
    self.init(
      certificateChainPEM: Array(made.certificate.pem.utf8), privateKeyPEM: Array(try made.key.pem().utf8),
      clientCAPEM: nil)
  }
}
