/// Where a device is remembered on Apple's platforms: in the Keychain.
#if canImport(LocalAuthentication) && canImport(Security)
  /// One device's record: to be read since the first unlock after a start of the phone, on this phone alone.
  public struct KeychainDeviceStore: DeviceStore {
    private let name: String
    private let group: String?

    /// - Parameters:
    ///   - name: of the device among those that the app has, one for each gate.
    ///   - accessGroup: where an extension of the app reads it; nil: the app alone.
    public init(name: String = "device", accessGroup: String? = nil) {
      self.name = name
      group = accessGroup
    }

    private var item: KeychainItem { KeychainItem("device/\(name)", group: group) }

    /// What was saved last.
    public func load() async throws -> DeviceRecord? {
      let bytes: [UInt8]?
      do { bytes = try item.bytes() } catch KeychainRefusal.locked {
        throw DeviceStoreError.locked
      } catch {
        throw DeviceStoreError.broken("\(error)")
      }
      return try bytes.map { try DeviceRecord(json: $0) }
    }

    /// Keeps it in place of what was there.
    public func save(_ record: DeviceRecord) async throws { try item.save(record.json) }

    /// Leaves nothing.
    public func erase() async throws { try item.save(nil) }
  }
#endif
