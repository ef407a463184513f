/// What a device remembers between two starts of the app: which gate, which names, which keys. No secret is in it.
public import PortcullisClient
public import PortcullisProtocol

/// One device at one gate.
public struct DeviceRecord: Equatable, Sendable {
  /// The gate's name or address, an IPv6 address without brackets.
  public var host: String
  /// The gate's port.
  public var port: UInt16
  /// What the phone is.
  public var platform: DevicePlatform
  /// What it calls itself.
  public var name: DeviceName?
  /// Its keys.
  public var keys: KeyNames
  /// Offered in a rotation whose answer has not come: the gate knows these or `keys`, and there is no telling which.
  public var newKeys: KeyNames?
  /// The gate's own id.
  public var server: ServerID?
  /// Nil until the gate has taken the phone.
  public var device: DeviceID?
  /// By which keys the gate is known; nil: as the transport trusts.
  public var pins: Pins?
  /// The app's key that the gate has heard of, in base64.
  public var appKeyID: String?

  /// Of one device.
  public struct KeyNames: Equatable, Sendable {
    /// Signs without asking anybody.
    public var device: KeyName
    /// Nil: the phone has no vote.
    public var approval: KeyName?

    /// - Parameters:
    ///   - device: the device key.
    ///   - approval: the approval key.
    public init(device: KeyName, approval: KeyName?) {
      self.device = device
      self.approval = approval
    }
  }

  /// - Parameters:
  ///   - host: the gate's name or address.
  ///   - port: the gate's port.
  ///   - platform: what the phone is.
  ///   - name: what it calls itself.
  ///   - keys: its keys.
  public init(host: String, port: UInt16, platform: DevicePlatform, name: DeviceName?, keys: KeyNames) {
    self.host = host
    self.port = port
    self.platform = platform
    self.name = name
    self.keys = keys
  }

  // MARK: Text

  private static let version: Int64 = 1

  /// For a store that keeps bytes.
  public var json: [UInt8] {
    var form = JSONForm()
    form.add("v", Self.version)
    form.add("host", host)
    form.add("port", Int64(port))
    form.add("platform", platform.rawValue)
    form.add("name", name?.text)
    form.add("device_key", keys.device.text)
    form.add("approval_key", keys.approval?.text)
    form.add("new_device_key", newKeys?.device.text)
    form.add("new_approval_key", newKeys?.approval?.text)
    form.add("server_id", server?.text)
    form.add("device_id", device?.text)
    form.add("pins", pins.map { $0.hashes.map(ByteText.base64URL) })
    form.add("app_key_id", appKeyID)
    return form.bytes
  }

  /// What `json` has written. Throws `later` for what a later version has, and `broken` for all else.
  public init(json: [UInt8]) throws(DeviceStoreError) {
    guard let object = (try? JSONTree(parsing: json, depthLimit: 3))?.object, let v = object["v"]?.integer
    else {
      throw .broken("not what a device remembers")
    }
    guard v == Self.version else { throw v > Self.version ? .later : .broken("version \(v)") }
    guard let host = object["host"]?.string,
      let port = object["port"]?.integer.flatMap({ UInt16(exactly: $0) }),
      let platform = object["platform"]?.string.flatMap({ DevicePlatform(rawValue: $0) }),
      let device = object["device_key"]?.string
    else { throw .broken("a member is missing") }
    self.init(
      host: host, port: port, platform: platform,
      name: object["name"]?.string.flatMap { DeviceName(stored: $0) },
      keys: KeyNames(device: KeyName(device), approval: object["approval_key"]?.string.map { KeyName($0) }))
    newKeys = object["new_device_key"]?.string.map { name in
      KeyNames(device: KeyName(name), approval: object["new_approval_key"]?.string.map { KeyName($0) })
    }
    server = object["server_id"]?.string.flatMap { ServerID($0) }
    self.device = object["device_id"]?.string.flatMap { DeviceID($0) }
    appKeyID = object["app_key_id"]?.string
    pins = Pins(object)
    // A pin that cannot be read must not turn into none, nor a device into none.
    guard (pins == nil) == (object["pins"] == nil), (server == nil) == (object["server_id"] == nil),
      (self.device == nil) == (object["device_id"] == nil)
    else { throw .broken("a pin or an id cannot be read") }
  }
}
