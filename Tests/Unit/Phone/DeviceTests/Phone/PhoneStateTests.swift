import Bytes
import DeviceWire
import Dialing
import Kit
import System
import Testing

@testable import Device

@Suite struct PhoneStateTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder("device-")
  }

  private func state() throws -> PhoneState {
    let keys = try PhoneState.KeyTexts(PhoneKeys.generate(withApproval: true))
    return PhoneState(host: "gate", port: 8443, platform: .ios, name: DeviceName("Anna's"), keys: keys)
  }

  @Test func allOfItComesBack() throws {
    var state = try state()
    #expect(PhoneState(json: state.json) == state)
    state.server = try Sample.challenge().server
    state.device = try Sample.deviceID()
    state.pins = [Bytes32(words: 1, 2, 3, 4), Bytes32()]
    state.token = PhoneToken("a.b.c", expiresAt: 17)
    state.appKey = KeyIdentifier(Bytes32())
    state.newKeys = try PhoneState.KeyTexts(PhoneKeys.generate(withApproval: false))
    let file = PhoneStateFile(path: folder.file("phone"))
    try file.write(state, isNew: true)
    #expect(try file.read() == state)
    #expect(try folder.mode("phone") == 0o600)
  }

  @Test func nothingIsWrittenOver() throws {
    let file = PhoneStateFile(path: folder.file("phone"))
    try file.write(state(), isNew: true)
    #expect(throws: DeviceError.exists(paths: [folder.file("phone")])) {
      try file.write(state(), isNew: true)
    }
    try file.write(state())
  }

  /// A phone that has lost a pin would believe whomever it meets.
  @Test func aPinThatCannotBeReadIsNotLeftOut() throws {
    var state = try state()
    state.pins = [Bytes32(words: 1, 2, 3, 4)]
    let text = String(decoding: state.json, as: UTF8.self)
    for broken in [String(state.pins[0].hex.dropLast()), state.pins[0].hex + " ", "x"] {
      #expect(PhoneState(json: Array(text.replacing(state.pins[0].hex, with: broken).utf8)) == nil)
    }
    #expect(PhoneState(json: Array("{}".utf8)) == nil)
  }
}
