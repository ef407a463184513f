import Bytes
import Crypto
import DeviceWire
import Kit
import Registry
import Testing

@testable import Admission

@Suite struct ActiveDevicesTests {
  private static func device(_ id: DeviceID, _ numbers: inout SplitMix) -> ActiveDevices.Device {
    let levels = Level.allCases
    func bytes() -> Bytes32 { Bytes32(words: numbers.next(), numbers.next(), numbers.next(), numbers.next()) }
    return ActiveDevices.Device(
      id: id, key: CompressedP256Point(x: bytes(), isYOdd: numbers.next(below: 2) == 0),
      level: levels[numbers.next(below: levels.count)],
      attestedKey: numbers.next(below: 3) == 0 ? nil : KeyIdentifier(bytes()))
  }

  /// What is known of one, as a dictionary would have it.
  private struct Known {
    let device: ActiveDevices.Device
    let subject: Subject?
    let comesIn: Bool
  }

  /// Beside a dictionary, which is what it stands for.
  @Test func isADictionary() throws {
    var numbers = SplitMix(seed: 7)
    let entropy = SeededEntropy(7)
    let ids = (0..<3000).map { _ in DeviceID(random: entropy) }
    let subjects = try ["anna", "bert", "anna\u{301}"].map { try #require(Subject($0)) }
    let devices = ActiveDevices()
    var model: [DeviceID: Known] = [:]
    for _ in 0..<40_000 {
      let id = ids[numbers.next(below: ids.count)]
      switch numbers.next(below: 5) {
      case 0, 1:
        let place = numbers.next(below: subjects.count + 1)
        let known = Known(
          device: Self.device(id, &numbers), subject: place < subjects.count ? subjects[place] : nil,
          comesIn: numbers.next(below: 3) > 0)
        devices.set(known.device, of: known.subject, comesIn: known.comesIn)
        model[id] = known
      case 2: #expect(devices.remove(id) == model.removeValue(forKey: id)?.device)
      default: #expect(devices.find(id) == model[id].flatMap { $0.comesIn ? $0.device : nil })
      }
    }
    #expect(devices.count == model.count)
    for subject in subjects {
      let found = devices.devices(of: subject)
      let expected = model.filter { $0.value.subject == subject }.map(\.key)
      #expect(Set(found) == Set(expected) && found.count == expected.count && !found.isEmpty)
    }
    for id in ids { #expect(devices.find(id) == model[id].flatMap { $0.comesIn ? $0.device : nil }) }
    for id in ids { #expect(devices.remove(id) == model[id]?.device) }
    #expect(devices.count == 0)
  }

  /// docs/settings.md, `GATE_DEVICES`.
  @Test func size() {
    #expect(ActiveDevices.bytesOfEach <= 96)
  }
}
