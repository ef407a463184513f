import Bytes
import Crypto
import DeviceWire
import Testing

@testable import Gateway

@Suite struct ActiveDevicesTests {
  private static func device(_ id: DeviceID, _ numbers: inout Numbers) -> ActiveDevices.Device {
    let levels = Level.allCases
    func bytes() -> Bytes32 { Bytes32(words: numbers.next(), numbers.next(), numbers.next(), numbers.next()) }
    return ActiveDevices.Device(
      id: id, key: CompressedP256Point(x: bytes(), isYOdd: numbers.next(below: 2) == 0),
      level: levels[numbers.next(below: levels.count)],
      attestedKey: numbers.next(below: 3) == 0 ? nil : KeyIdentifier(bytes()))
  }

  /// Beside a dictionary, which is what it stands for.
  @Test func isADictionary() {
    var numbers = Numbers(7)
    let entropy = SeededEntropy(7)
    let ids = (0..<3000).map { _ in DeviceID(random: entropy) }
    let devices = ActiveDevices()
    var model: [DeviceID: ActiveDevices.Device] = [:]
    for _ in 0..<40_000 {
      let id = ids[numbers.next(below: ids.count)]
      switch numbers.next(below: 5) {
      case 0, 1:
        let device = Self.device(id, &numbers)
        devices.set(device)
        model[id] = device
      case 2: #expect(devices.remove(id) == (model.removeValue(forKey: id) != nil))
      default: #expect(devices.find(id) == model[id])
      }
    }
    #expect(devices.count == model.count)
    for id in ids { #expect(devices.find(id) == model[id]) }
    for id in ids { #expect(devices.remove(id) == (model[id] != nil)) }
    #expect(devices.count == 0)
  }

  /// docs/settings.md, `GATE_DEVICES`.
  @Test func size() {
    #expect(ActiveDevices.bytesOfEach <= 96)
  }
}
