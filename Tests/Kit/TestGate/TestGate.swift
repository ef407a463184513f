/// A gate on loopback for a test, put together as `serve` does it, with its stores in a folder of its own and an echo as game.
package import AppAttest
package import Assembly
package import Configuration
package import Control
internal import Crypto
package import Gateway
package import KeyStore
internal import Kit
package import Logging
internal import Logs
internal import Registry
internal import System
internal import Time
internal import TLS

package final class TestGate {
  package static let appID = "ABCDE12345.org.example.game"

  package let loaded: LoadedConfiguration
  package let store: KeyStore
  package let gate: Gate
  /// Nil in a gate without devices.
  package let devices: Gateway.Devices?
  package let control: GateControl
  package let settings: SettingsInForce
  package let logger: Logger
  /// What the gate shows, in DER: for localhost, and signed by itself.
  package let certificate: [UInt8]
  private let folder: TestFolder

  package var configuration: GateConfiguration { loaded.configuration }
  package var folderPath: String { folder.path }

  /// - Parameters:
  ///   - root: who attests keys; nil: Apple.
  ///   - variables: beside those that every gate needs, or in their place.
  package init(
    withDevices hasDevices: Bool = false, root: AttestationRoot? = nil, _ variables: [(String, String)] = []
  ) throws {
    folder = try TestFolder("portcullis-gate-")
    let needed = [
      ("APPATTEST_APP_IDS", Self.appID), ("LISTEN", "127.0.0.1:0"), ("BACKEND", "echo:"), ("WORKERS", "2"),
      ("ATTESTED_KEYS_PATH", folder.file("keys.json")), ("CONTROL_SOCKET", folder.file("gate.sock")),
    ]
    let ofDevices = [("DEVICES_PATH", folder.file("devices.db")), ("PUBLIC_URL", "https://gate.example")]
    loaded = try ConfigurationLoader.load(
      environment: variables + needed + (hasDevices ? ofDevices : []), files: SystemFiles(), processors: 2,
      descriptorLimit: 4096)
    let configuration = loaded.configuration
    store = try KeyStore.open(path: configuration.store.path) { _ in }
    let log = GateLog(sink: Silence())
    logger = log.logger(label: "portcullis")
    let certificate = try SelfSignedCertificate.localhost()
    self.certificate = certificate.certificate.der
    let tls = try TLSMaterial(certificate)
    var devices: Gateway.Devices?
    if hasDevices {
      var settings = RegistrySettings(publicURL: "https://gate.example")
      settings.pins = [try PublicKeyPin.ofCertificate(inPEM: Array(certificate.certificate.pem.utf8).span)]
      let admitted = AdmittedDevices(log: log)
      let registry = try Registry(
        RegistryDatabase(folder.file("devices.db")), settings: settings, clock: SystemClock(),
        entropy: KernelEntropy(), listener: admitted)
      devices = Gateway.Devices(registry: registry, admitted: admitted)
      try registry.begin()
    }
    self.devices = devices
    gate = try GateAssembly(
      configuration, store: store, root: root ?? .apple(), tls: tls, log: log, devices: devices
    ).start()
    let actions = OperatorActions(logger: logger)
    control = GateControl(
      gate: gate, registry: devices.map { RegistryControl($0.registry, actions) }, actions: actions,
      clock: SystemClock(), process: 1)
    settings = SettingsInForce(loaded, file: nil) {}
  }

  /// - Returns: its identifier, after it is on the disk.
  @discardableResult
  package func register(_ key: NewKey) -> NewKey {
    let done = Monitor(false)
    _ = store.register(key) { _ in
      done.withLock { isDone, wake in
        isDone = true
        wake.all()
      }
    }
    _ = done.wait(until: SystemClock().monotonic() + .seconds(60)) { isDone -> Waited<Bool> in
      isDone ? .done(true) : .wait
    }
    return key
  }

  package func end() {
    gate.stop()
    _ = devices?.registry.stop()
    _ = store.close()
  }

  private struct Silence: LogSink {
    func write(_ line: [UInt8]) {}
  }
}
