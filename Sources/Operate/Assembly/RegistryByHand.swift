/// The registry without a gate: opened for one call, and closed again (docs/running.md, "Commands").
import Bytes
package import Configuration
import Control
import PortcullisProtocol
import Prompt
package import Registry
import System
import Time

package enum RegistryByHand {
  /// The reply; nil where there are no devices. To be called under the key store's lock, which no gate has then.
  package static func ask(_ call: any RegistryCall, _ configuration: GateConfiguration) throws -> Reply? {
    let devices = configuration.devices
    // A revocation that comes to nothing is none.
    try DevicesStoreFile.mustNotBeLost(devices.areOn ? devices.path : nil)
    // What is set counts here as well: the registry looks after its rows as soon as it begins.
    guard let path = devices.path, let settings = RegistrySettings(devices), WholeFile.exists(path) else {
      return nil
    }
    do {
      let registry = try Registry(
        try RegistryDatabase(path), settings: settings, clock: SystemClock(), entropy: KernelEntropy(),
        listener: Nobody())
      defer { registry.stop() }
      try registry.begin()
      return registry.ask(call, by: .gate)
        ?? .refused(RegistryRefusal(.storeUnavailable, "registry_silent"))
    } catch let failure as StoreFailure {
      throw RegistryOpening.unusable(path, failure)
    } catch {
      complain("DEVICES_PATH=\(PrintableText.field(path)): \(error)")
      throw ExitStatus.ioError
    }
  }

  /// Without a gate there is nobody to be told.
  private struct Nobody: RegistryListener {
    func hear(_ effect: RegistryEffect) {}
    func note(_ event: RegistryEvent) {}
  }
}
