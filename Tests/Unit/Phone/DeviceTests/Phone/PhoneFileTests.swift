import Bytes
import Crypto
import DeviceWire
import Dialing
import Kit
import PortcullisClient
import PortcullisDevice
import System
import Testing
import Time

@testable import Device

/// The file of a simulated phone: what the package remembers, with the private keys beside it.
@Suite struct PhoneFileTests {
  private let folder: TestFolder
  private let keys = OpenSSLKeys()
  private let file: PhoneFile

  init() throws {
    folder = try TestFolder("device-")
    file = PhoneFile(path: folder.file("phone"), keys: keys)
  }

  private func record() async throws -> DeviceRecord {
    let names = DeviceRecord.KeyNames(
      device: try await keys.make(.device, challenge: nil),
      approval: try await keys.make(.approval, challenge: nil))
    return DeviceRecord(host: "gate", port: 8443, platform: .ios, name: DeviceName("Anna's"), keys: names)
  }

  @Test func allOfItComesBack() async throws {
    #expect(try await file.load() == nil)
    var record = try await record()
    try await file.save(record)
    #expect(try await file.load() == record)
    record.server = ServerID(random: KernelEntropy())
    record.device = DeviceID(random: KernelEntropy())
    record.pins = Pins([Bytes32(words: 1, 2, 3, 4).array, Bytes32().array])
    record.appKeyID = "key"
    record.newKeys = .init(device: try await keys.make(.device, challenge: nil), approval: nil)
    try await file.save(record)
    #expect(try folder.mode("phone") == 0o600)
    // Another start of the program: the same names, and keys that sign.
    let later = OpenSSLKeys()
    #expect(try await PhoneFile(path: file.path, keys: later).load() == record)
    let message = DeviceMessage(.presence, [[1, 2, 3]])
    let der = try await later.sign(message.bytes, by: record.keys.device, reason: "")
    let point = try await keys.point(record.keys.device)
    let verifier = P256Verifier()
    let found = DevicePublicKey(x963: point.span, checkedBy: verifier)
    let key = try #require(found)
    let signature = try #require(DeviceSignature(der))
    #expect(signature.isValid(for: message, by: key, verifier: verifier))
    #expect(DevicePoints.spki(point) == key.spki)
    try await file.erase()
    #expect(try await file.load() == nil)
  }

  /// A phone that has lost a pin would believe whomever it meets.
  @Test func whatCannotBeReadIsNotLeftOut() async throws {
    var record = try await record()
    let pin = Bytes32(words: 1, 2, 3, 4)
    record.pins = Pins([pin.array])
    try await file.save(record)
    let text = String(decoding: try WholeFile.read(file.path), as: UTF8.self)
    for broken in [
      text.replacing(pin.hex, with: pin.hex.dropLast()), text.replacing(pin.hex, with: pin.hex + " "),
      text.replacing("BEGIN", with: "BEGUN"), "{}", "",
    ] {
      try WholeFile.write(Array(broken.utf8), to: file.path, mode: 0o600, overwriting: true)
      await #expect(throws: DeviceStoreError.self) { try await file.load() }
    }
  }

  @Test func aKeyThatIsRemovedIsGone() async throws {
    let name = try await keys.make(.device, challenge: nil)
    try await keys.remove(name)
    await #expect(throws: DeviceKeyError.gone) { try await keys.sign([], by: name, reason: "") }
    #expect(try await keys.make(.device, challenge: nil) != name)
  }
}
