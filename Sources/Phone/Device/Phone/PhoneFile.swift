/// What a simulated phone remembers between runs: a JSON file of mode 0600, which takes the place of a keychain, with the
/// private keys in it.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import Dialing
internal import JSON
internal import PortcullisClient
internal import PortcullisDevice
internal import PortcullisProtocol
internal import System

final class PhoneFile: DeviceStore {
  let path: String
  private let keys: OpenSSLKeys

  init(path: String, keys: OpenSSLKeys) {
    self.path = path
    self.keys = keys
  }

  // MARK: As the package asks for it

  func load() async throws -> DeviceRecord? { try recordIfThere() }

  func save(_ record: DeviceRecord) async throws { try write(record) }

  func erase() async throws { try remove() }

  // MARK: The file

  private func recordIfThere() throws(DeviceStoreError) -> DeviceRecord? {
    guard WholeFile.exists(path) else { return nil }
    do { return try read() } catch { throw .broken(error.description) }
  }

  private func write(_ record: DeviceRecord) throws(DeviceStoreError) {
    let text: [UInt8]
    do { text = try json(of: record) } catch { throw .broken("\(path): a key that it names is gone") }
    do { try WholeFile.write(text, to: path, mode: 0o600, overwriting: true) } catch {
      throw .broken(error.description)
    }
  }

  private func remove() throws(DeviceStoreError) {
    do { try WholeFile.remove(path) } catch { throw .broken(error.description) }
  }

  // MARK: Text

  private func json(of record: DeviceRecord) throws(DeviceKeyError) -> [UInt8] {
    var form = JSONForm()
    form.add("host", record.host)
    form.add("port", Int64(record.port))
    form.add("platform", record.platform.rawValue)
    form.add("name", record.name?.text)
    form.add("server_id", record.server?.text)
    form.add("device_id", record.device?.text)
    form.add("pins", record.pins.map { $0.hashes.map(ByteText.hex).joined(separator: " ") })
    form.add("app_key_id", record.appKeyID)
    form.add("device_key", try pem(record.keys.device))
    form.add("approval_key", try pem(record.keys.approval))
    form.add("new_device_key", try pem(record.newKeys?.device))
    form.add("new_approval_key", try pem(record.newKeys?.approval))
    return form.bytes + [UInt8(ascii: "\n")]
  }

  private func pem(_ name: KeyName?) throws(DeviceKeyError) -> String? {
    guard let name else { return nil }
    let key = try keys.key(name)
    do { return try key.pem() } catch { throw .failed(error.description) }
  }

  private func read() throws(DeviceError) -> DeviceRecord {
    let bytes = try PEMFile.read(path)
    guard let object = (try? JSONValue(parsing: bytes.span, depthLimit: 2))?.object,
      let host = object["host"]?.string, let port = object["port"]?.integer.flatMap({ UInt16(exactly: $0) }),
      let platform = object["platform"]?.string.flatMap({ DevicePlatform(rawValue: $0) })
    else { throw unusable }
    guard let names = try names("device_key", "approval_key", in: object) else { throw unusable }
    var record = DeviceRecord(
      host: host, port: port, platform: platform, name: object["name"]?.string.flatMap { DeviceName($0) },
      keys: names)
    record.newKeys = try self.names("new_device_key", "new_approval_key", in: object)
    record.server = object["server_id"]?.string.flatMap { ServerID($0) }
    record.device = object["device_id"]?.string.flatMap { DeviceID($0) }
    record.appKeyID = object["app_key_id"]?.string
    if let text = object["pins"]?.string {
      let pins = text.split(separator: " ").compactMap { Octets32(hex: String($0)) }
      // A pin that cannot be read must not turn into none.
      guard pins.map(\.hex).joined(separator: " ").isSameText(as: text), let pins = Pins(pins.map(\.bytes))
      else {
        throw unusable
      }
      record.pins = pins
    }
    return record
  }

  private func names(
    _ device: String, _ approval: String, in object: JSONObject
  ) throws(DeviceError) -> DeviceRecord.KeyNames? {
    guard let device = try key(object[device]?.string) else { return nil }
    return DeviceRecord.KeyNames(device: device, approval: try key(object[approval]?.string))
  }

  private func key(_ pem: String?) throws(DeviceError) -> KeyName? {
    guard let pem else { return nil }
    do { return keys.add(try PhoneKey(pem: pem)) } catch {
      throw .unusable(path: path, reason: error.description)
    }
  }

  private var unusable: DeviceError { .unusable(path: path, reason: "not the state of a phone") }
}
