/// Opens the registry of devices, and the socket for approvals: before the sandbox, under the key store's lock
/// (docs/architecture.md, "To the door").
import Bytes
package import Configuration
import Control
package import Crypto
package import Gateway
import Glibc
package import KeyStore
import Logging
package import Logs
package import Prompt
package import Registry
internal import Requests
package import Sockets
import System
import Time
package import TLS

package struct RegistryOpening {
  package let configuration: GateConfiguration
  package let files: DeviceFiles
  package let users: ApprovalUsers
  package let log: GateLog
  /// Where their pins are to be kept before anybody is served.
  package private(set) var unpublished: RegistrySettings?

  package init(
    configuration: GateConfiguration, files: DeviceFiles, users: ApprovalUsers, log: GateLog
  ) {
    self.configuration = configuration
    self.files = files
    self.users = users
    self.log = log
  }

  /// Nil where there are no devices. Nothing is served before it begins.
  /// - Parameter keys: the key store, which may know more revoked keys than the registry was told.
  package mutating func open(_ material: TLSMaterial, _ keys: KeyStore) throws -> Gateway.Devices? {
    guard let path = configuration.devices.path else { return nil }
    let pin = try Self.pin(of: material)
    guard let settings = RegistrySettings(configuration, files, users, pin: pin) else { return nil }
    let logger = log.logger(label: "portcullis")
    RegistryDatabase.listen { message, isFailure in
      logger.log(level: isFailure ? .warning : .info, "sqlite", metadata: ["reason": "\(message)"])
    }
    let store: RegistryDatabase
    let file = DevicesStoreFile(path: path)
    // Again, under the key store's lock.
    try DevicesStoreFile.mustNotBeLost(path)
    do throws(StoreFailure) { store = try RegistryDatabase(path) } catch { throw Self.unusable(path, error) }
    try file.noteMade(now: SystemClock().wall())
    if try PinRule.judge(settings, in: store, path) { unpublished = settings }
    let ended: [KeyIdentifier]
    do throws(CallFailure) {
      ended = try store.attestedKeys(among: keys.revokedKeys)
    } catch {
      throw Self.unusable(path, error.ofStore)
    }
    do throws(StoreFailure) {
      let admitted = AdmittedDevices(level: settings.doorLevel, log: log)
      let registry = try Registry(
        store, settings: settings, clock: SystemClock(), entropy: KernelEntropy(), listener: admitted)
      let android = AndroidEvidence(
        AndroidEvidence.Settings(configuration.devices.android, files.android))
      let devices = Gateway.Devices(registry: registry, admitted: admitted, android: android)
      // The first that the registry does; nobody is served before it has.
      if !ended.isEmpty {
        logger.warning("revoked_keys_ended", metadata: ["devices": "\(ended.count)"])
        devices.endKeys(ended)
      }
      devices.attendRevocations(now: SystemClock().wall())
      return devices
    } catch {
      throw Self.unusable(path, error)
    }
  }

  /// Why the store cannot be used, told, and the status to end with: as for the store of keys, another process that has
  /// it may be gone the next time.
  package static func unusable(_ path: String, _ failure: StoreFailure) -> ExitStatus {
    let name = "DEVICES_PATH=\(PrintableText.field(path))"
    if case .inUse = failure {
      complain("\(name) is in use by another process: stop that one, or name another file")
      return ExitStatus.temporaryFailure
    }
    complain("\(name): \(failure)")
    return ExitStatus.ioError
  }

  /// Nil where none is set.
  package func approvalsListener() throws -> UnixListener? {
    guard configuration.devices.areOn, let path = configuration.devices.approvalsSocket.path else {
      return nil
    }
    do {
      return try ControlServer.bind(path, setting: "APPROVALS_SOCKET", group: users.group ?? getegid())
    } catch {
      complain(error.description)
      if case .listen(_, _, .failed(let failure)) = error, failure.call.hasPrefix("lchown") {
        let setting = configuration.devices.approvalsSocket.groupSetting
        complain("only a member of \(setting) may give it the socket: add the gate's user to the group")
      }
      throw ExitStatus.unavailable
    }
  }

  package static func pin(of material: TLSMaterial, tell: Teller = { complain($0) }) throws -> PublicKeyPin {
    do {
      return try PublicKeyPin.ofCertificate(inPEM: material.certificateChainPEM.span)
    } catch {
      tell(
        "TLS_CERT_PATH: the public key of the server's certificate cannot be read: \(error); name another one"
      )
      throw ExitStatus.configuration
    }
  }
}
