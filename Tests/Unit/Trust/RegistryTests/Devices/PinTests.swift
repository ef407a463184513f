/// Which key the server may have, once phones know pins.
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct PinTests {
  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  private func pin(_ number: UInt64) -> PublicKeyPin { PublicKeyPin(Bytes32(words: number, 0, 0, 0)) }

  private func take(_ pins: [UInt64], forced: Bool = false) throws -> PublishedPins.ForeignKey? {
    registry.settings.pins = pins.map(pin)
    registry.settings.pinsAreForced = forced
    return try PublishedPins.take(registry.settings, into: registry.store)
  }

  @Test func withoutDevicesAnyKey() throws {
    #expect(try take([1]) == nil)
    #expect(try take([2, 3]) == nil)
    // Who waits for a confirmation may be anybody, and holds no operator up.
    _ = try part.enroll(TestPhone())
    #expect(try take([4]) == nil)
  }

  @Test func withDevicesOnlyPublishedOnes() throws {
    #expect(try take([1]) == nil)
    _ = try part.activePhone()
    #expect(try take([1]) == nil)
    #expect(try take([2]) == PublishedPins.ForeignKey(pin: pin(2), published: [pin(1)]))
    // A refused one is not published by that.
    #expect(try take([2]) != nil)
    // Two steps: the next key is told of, and then it is in service.
    #expect(try take([1, 2]) == nil)
    #expect(try take([2, 3]) == nil)
    #expect(try take([1]) != nil)
    #expect(try take([3]) == nil)
    #expect(try take([9], forced: true) == nil)
    #expect(try take([9]) == nil)
    #expect(try take([3]) != nil)
  }

  @Test func aReload() throws {
    _ = try take([1])
    _ = try part.activePhone()
    registry.settings.pins = [pin(2)]
    let refused = try Said(registry.run(TakePins(registry.settings), from: .gate))
    #expect(refused.code == .badRequest && refused.step == "foreign_key")
    registry.settings.pins = [pin(1), pin(2)]
    #expect(try Said(registry.run(TakePins(registry.settings), from: .gate)).code == nil)
    #expect(try take([2]) == nil)
  }

  @Test func answersNameThem() throws {
    registry.settings.pins = [pin(1), pin(2)]
    let expected = [pin(1).text, pin(2).text]
    func pins(_ said: Said) -> [String]? { said.value.object?["pins"]?.array?.compactMap(\.string) }
    let phone = try TestPhone()
    #expect(try pins(part.enroll(phone)) == expected)
    try part.confirm(phone)
    let said = try part.token(phone)
    #expect(pins(said) == expected)
    let token = try #require(said["token"])
    #expect(try pins(part.read(token)) == expected)
    #expect(try pins(part.beat(token, signedBy: nil)) == expected)
    #expect(try pins(part.rotate(phone, to: TestPhone())) == expected)
  }
}
