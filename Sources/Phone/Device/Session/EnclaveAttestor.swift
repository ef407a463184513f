/// The software enclave in the place of App Attest, for a session of the app's package.
internal import Bytes
internal import Crypto
internal import Dialing
package import Identity
internal import PortcullisClient
internal import System
internal import Time

/// Where a new key comes from, and who attests it.
package struct KeyMaking: Sendable {
  let appID: String
  let environment: AttestEnvironment
  /// The folder of a test authority.
  let authority: String

  package init(appID: String, environment: AttestEnvironment, authority: String) {
    self.appID = appID
    self.environment = environment
    self.authority = authority
  }
}

struct EnclaveAttestor: DeviceAttestor {
  /// The file of the key.
  let path: String
  /// Nil: the file's key is the only one there will be.
  let making: KeyMaking?

  var isSupported: Bool { true }

  func makeKey() async throws -> String {
    guard let making else { throw Self.unsupported }
    return try answering { () throws(DeviceError) in
      // The one that is there is not the gate's any more.
      do throws(SystemError) { try WholeFile.remove(path) } catch { throw .file(error) }
      return try SoftwareEnclave.generate(appID: making.appID, environment: making.environment, keptIn: path)
        .keyIdentifier.base64
    }
  }

  func attest(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
    guard let making else { throw Self.unsupported }
    return try answering { () throws(DeviceError) in
      try enclave(keyID).attest(
        clientDataHash: SHA256.hash(challenge.span), by: .load(from: making.authority),
        now: SystemClock().wall())
    }
  }

  func assert(_ keyID: String, challenge: [UInt8]) async throws -> [UInt8] {
    try answering { () throws(DeviceError) in
      try enclave(keyID).assert(clientDataHash: SHA256.hash(challenge.span))
    }
  }

  private func enclave(_ keyID: String) throws(DeviceError) -> SoftwareEnclave {
    let enclave = try SoftwareEnclave.load(from: path)
    guard enclave.keyIdentifier.base64 == keyID else {
      throw .unusable(path: path, reason: "it holds another key than \(keyID)")
    }
    return enclave
  }

  private static let unsupported = DeviceCheckFailure(code: 1, detail: "this program makes no key here")

  /// As App Attest would: a file that is not there is a key that is not there, where another one may be made.
  private func answering<Value>(_ body: () throws(DeviceError) -> Value) throws -> Value {
    do throws(DeviceError) {
      return try body()
    } catch {
      throw DeviceCheckFailure(code: making == nil ? 1 : 3, detail: error.description)
    }
  }
}
