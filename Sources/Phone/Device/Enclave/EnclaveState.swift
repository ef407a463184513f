/// What a software enclave remembers between runs: a JSON file of mode 0600 whose counter never goes back.
internal import Bytes
internal import Dialing
internal import Glibc
internal import Identity
internal import JSON
internal import System

struct EnclaveState: Equatable {
  var privateKey: String
  var keyIdentifier: KeyIdentifier
  var signCount: UInt32
  var appID: String
  var environment: AttestEnvironment
  var launch: LaunchClaim?

  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("keyId")
    writer.value(keyIdentifier.base64)
    writer.name("appId")
    writer.value(appID)
    writer.name("environment")
    writer.value(environment.rawValue)
    writer.name("signCount")
    writer.value(signCount)
    if let launch {
      writer.name("validationCategory")
      writer.value(launch.validationCategory)
      writer.name("bundleVersion")
      writer.value(launch.bundleVersion)
    }
    writer.name("privateKey")
    writer.value(privateKey)
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }

  /// - Returns: the name of the first member that is missing or wrong, when there is one.
  static func read(json: [UInt8]) -> Result<EnclaveState, Unreadable> {
    let object: JSONObject
    do {
      guard let value = try JSONValue(parsing: json.span, depthLimit: 2).object else {
        return .failure(Unreadable(reason: "not a JSON object"))
      }
      object = value
    } catch {
      return .failure(Unreadable(reason: error.description))
    }
    guard let keyIdentifier = object["keyId"]?.string.flatMap({ KeyIdentifier(base64: $0) }) else {
      return .failure(Unreadable(member: "keyId"))
    }
    guard let appID = object["appId"]?.string else { return .failure(Unreadable(member: "appId")) }
    guard let environment = object["environment"]?.string.flatMap({ AttestEnvironment(rawValue: $0) })
    else {
      return .failure(Unreadable(member: "environment"))
    }
    guard let signCount = object["signCount"]?.integer.flatMap({ UInt32(exactly: $0) }) else {
      return .failure(Unreadable(member: "signCount"))
    }
    guard let privateKey = object["privateKey"]?.string else {
      return .failure(Unreadable(member: "privateKey"))
    }
    var launch: LaunchClaim?
    if let category = object["validationCategory"]?.integer.flatMap({ UInt32(exactly: $0) }),
      let version = object["bundleVersion"]?.string
    {
      launch = LaunchClaim(validationCategory: category, bundleVersion: version)
    }
    return .success(
      EnclaveState(
        privateKey: privateKey, keyIdentifier: keyIdentifier, signCount: signCount, appID: appID,
        environment: environment, launch: launch))
  }

  struct Unreadable: Error {
    let reason: String

    init(reason: String) {
      self.reason = reason
    }

    init(member: String) {
      reason = "\(member) is missing or wrong"
    }
  }
}

struct EnclaveStateFile {
  let path: String

  func create(_ state: EnclaveState) throws(DeviceError) {
    do {
      try WholeFile.write(state.json, to: path, mode: 0o600, overwriting: false)
    } catch {
      throw error.number == EEXIST ? .exists(paths: [path]) : .file(error)
    }
  }

  func read() throws(DeviceError) -> EnclaveState {
    switch EnclaveState.read(json: try PEMFile.read(path)) {
    case .success(let state): return state
    case .failure(let error): throw .unusable(path: path, reason: error.reason)
    }
  }

  /// Counts one up on disk and returns the new count, which no other process will get from the same file.
  func incrementSignCount() throws(DeviceError) -> UInt32 {
    // A file of its own: the state file is replaced by each write, and a lock on the old one would be worth
    // nothing.
    let lock = try LockFile.acquire("\(path).lock")
    defer { lock.release() }
    var state = try read()
    let (next, overflow) = state.signCount.addingReportingOverflow(1)
    if overflow { throw .counterExhausted }
    state.signCount = next
    do { try WholeFile.write(state.json, to: path, mode: 0o600, overwriting: true) } catch {
      throw .file(error)
    }
    return next
  }
}

/// An exclusive lock that is waited for; the kernel releases it when the descriptor closes.
private struct LockFile: ~Copyable {
  private let descriptor: OwnedDescriptor

  static func acquire(_ path: String) throws(DeviceError) -> LockFile {
    do throws(SystemError) {
      let descriptor = try OwnedDescriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600)
      while flock(descriptor.number, LOCK_EX) != 0 {
        guard errno == EINTR else { throw SystemError("lock \(path)") }
      }
      return LockFile(descriptor: descriptor)
    } catch {
      throw .file(error)
    }
  }

  borrowing func release() {
    _ = flock(descriptor.number, LOCK_UN)
  }
}
