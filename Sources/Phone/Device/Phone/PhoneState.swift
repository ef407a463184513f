/// What a software phone remembers between runs: a JSON file of mode 0600, which takes the place of a keychain.
package import Bytes
internal import Crypto
package import DeviceWire
internal import Dialing
internal import Glibc
internal import JSON
internal import System

package struct PhoneState: Equatable, Sendable {
  package var host: String
  package var port: UInt16
  package var platform: DevicePlatform
  package var name: DeviceName?
  package var keys: KeyTexts
  /// Offered in a rotation whose answer has not come: the gate knows these or `keys`, and there is no telling which.
  package var newKeys: KeyTexts?
  package var server: ServerID?
  package var device: DeviceID?
  /// By which keys the gate is known; none: as the command line says.
  package var pins: [Bytes32] = []
  package var token: PhoneToken?
  /// The app's key that the gate has heard of.
  package var appKey: KeyIdentifier?

  /// Private keys as PKCS#8 in PEM.
  package struct KeyTexts: Equatable, Sendable {
    var device: String
    var approval: String?

    init(_ keys: PhoneKeys) throws(IssuingError) {
      device = try keys.device.pem()
      approval = try keys.approval?.pem()
    }

    fileprivate init(device: String, approval: String?) {
      self.device = device
      self.approval = approval
    }

    func keys() throws(IssuingError) -> PhoneKeys {
      let device = try PhoneKey(pem: device)
      guard let approval else { return try PhoneKeys(device: device, approval: nil) }
      return try PhoneKeys(device: device, approval: PhoneKey(pem: approval))
    }
  }

  package init(
    host: String, port: UInt16, platform: DevicePlatform, name: DeviceName?, keys: KeyTexts
  ) {
    self.host = host
    self.port = port
    self.platform = platform
    self.name = name
    self.keys = keys
  }
}

// MARK: JSON

extension PhoneState {
  var json: [UInt8] {
    var form = PhoneForm()
    form.add("host", host)
    form.add("port", Int64(port))
    form.add("platform", platform.rawValue)
    form.add("name", name?.text)
    form.add("server_id", server?.text)
    form.add("device_id", device?.text)
    form.add("pins", pins.isEmpty ? nil : pins.map(\.hex).joined(separator: " "))
    form.add("token", token?.text)
    form.add("token_expires_at", token?.expiresAt)
    form.add("app_key_id", appKey?.base64)
    form.add("device_key", keys.device)
    form.add("approval_key", keys.approval)
    form.add("new_device_key", newKeys?.device)
    form.add("new_approval_key", newKeys?.approval)
    return form.bytes + [UInt8(ascii: "\n")]
  }

  /// Nil for anything that `json` does not write.
  init?(json: [UInt8]) {
    guard let object = (try? JSONValue(parsing: json.span, depthLimit: 2))?.object,
      let host = object["host"]?.string, let port = object["port"]?.integer.flatMap({ UInt16(exactly: $0) }),
      let platform = object["platform"]?.string.flatMap({ DevicePlatform(rawValue: $0) }),
      let deviceKey = object["device_key"]?.string
    else { return nil }
    self.init(
      host: host, port: port, platform: platform, name: object["name"]?.string.flatMap { DeviceName($0) },
      keys: KeyTexts(device: deviceKey, approval: object["approval_key"]?.string))
    server = object["server_id"]?.string.flatMap { ServerID($0) }
    device = object["device_id"]?.string.flatMap { DeviceID($0) }
    pins = (object["pins"]?.string ?? "").split(separator: " ").compactMap { Bytes32(hex: String($0)) }
    token = PhoneToken(object["token"]?.string, expiresAt: object["token_expires_at"]?.integer)
    appKey = object["app_key_id"]?.string.flatMap { KeyIdentifier(base64: $0) }
    newKeys = object["new_device_key"]?.string.map { text in
      KeyTexts(device: text, approval: object["new_approval_key"]?.string)
    }
    // A pin that cannot be read must not turn into none.
    guard pins.map(\.hex).joined(separator: " ") == object["pins"]?.string ?? "" else { return nil }
  }
}

struct PhoneStateFile {
  let path: String

  func read() throws(DeviceError) -> PhoneState {
    guard let state = PhoneState(json: try PEMFile.read(path)) else {
      throw .unusable(path: path, reason: "not the state of a phone")
    }
    return state
  }

  /// - Parameter isNew: a file that is there already stays.
  func write(_ state: PhoneState, isNew: Bool = false) throws(DeviceError) {
    do {
      try WholeFile.write(state.json, to: path, mode: 0o600, overwriting: !isNew)
    } catch {
      throw error.number == EEXIST ? .exists(paths: [path]) : .file(error)
    }
  }
}
