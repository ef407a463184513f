/// Serials of Android devices as the store keeps them: what many phones have in common is there once.
import Bytes
import DeviceWire
import System
import Testing

@testable import Registry

@Suite struct AndroidRowTests {
  private let registry: RegistryHarness
  private var store: RegistryDatabase { registry.store }

  init() throws {
    registry = try RegistryHarness()
  }

  private func device(_ number: UInt8) throws -> DeviceID {
    let id = DeviceID.test(number)
    try store.insert(
      DeviceRecord(
        id: id, state: .active, subject: nil, name: nil, platform: .android,
        keys: TestPhone(platform: .android).keys, level: .hardwareAttested, verification: .app,
        createdAt: registry.now))
    return id
  }

  private func serials(_ bytes: [UInt8]...) -> Set<AndroidSerial> { Set(bytes.map { AndroidSerial($0) }) }
  private func rows() throws -> Int { try store.count("SELECT count(*) FROM android_chains") }

  @Test func phonesOfAFactory() throws {
    let ids = try (0..<20).map { try device($0) }
    for id in ids { try store.insert(serials([1], [0xA0, 1], [0xB0], [0xC0]), of: id) }
    #expect(try rows() == 4)
    for serial in serials([1], [0xA0, 1], [0xB0], [0xC0]) { #expect(try store.devices(of: serial) == ids) }
    #expect(try store.devices(of: AndroidSerial([0xA0])).isEmpty)
    for id in ids.dropLast() { try store.deleteSerials(of: id) }
    #expect(try rows() == 4 && store.devices(of: AndroidSerial([0xB0])) == [ids[19]])
    try store.delete(ids[19])
    #expect(try rows() == 0)
  }

  /// Their second certificate is their own: a row for each, and few more.
  @Test func phonesThatGetCertificatesForATime() throws {
    let ids = try (0..<100).map { try device($0) }
    for (number, id) in ids.enumerated() {
      try store.insert(serials([1], [0x90, UInt8(number)], [0xA0], [0xB0], [0xC0]), of: id)
    }
    #expect(try (104...115).contains(rows()))
    for (number, id) in ids.enumerated() {
      #expect(try store.devices(of: AndroidSerial([0x90, UInt8(number)])) == [id])
      #expect(try store.serials(of: id).count == 5)
    }
    #expect(try store.devices(of: AndroidSerial([0xC0])) == ids)
    for id in ids { try store.deleteSerials(of: id) }
    #expect(try rows() == 0)
  }

  /// The same beginning, and another number behind it.
  @Test func serialsThatBeginAlike() throws {
    let (first, second) = (try device(1), try device(2))
    let long = [UInt8](repeating: 7, count: 20)
    try store.insert(serials(long + [1]), of: first)
    try store.insert(serials(long + [2]), of: second)
    #expect(try store.devices(of: AndroidSerial(long + [1])) == [first])
    #expect(try store.devices(of: AndroidSerial(long + [2])) == [second])
    #expect(try store.devices(of: AndroidSerial(long)).isEmpty)
  }

  @Test func moreComeBesideThem() throws {
    let id = try device(1)
    try store.insert(serials([1], [2]), of: id)
    try store.insert(serials([2], [3]), of: id)
    try store.insert([], of: id)
    #expect(try store.serials(of: id) == serials([1], [2], [3]) && rows() == 3)
  }

  /// Whatever comes and goes: each device has what it was given, each serial its devices, and nothing is left behind.
  @Test func againstAnObviousStore() throws {
    var generator = SystemRandomNumberGenerator()
    let ids = try (0..<12).map { try device($0) }
    var model: [DeviceID: Set<AndroidSerial>] = [:]
    for _ in 0..<600 {
      let id = ids[.random(in: ids.indices, using: &generator)]
      if Bool.random(using: &generator) {
        try store.deleteSerials(of: id)
        model[id] = nil
      } else {
        let drawn = (0..<Int.random(in: 1...6, using: &generator)).map { _ in
          AndroidSerial([.random(in: 1...8, using: &generator)])
        }
        try store.insert(Set(drawn), of: id)
        model[id, default: []].formUnion(drawn)
      }
      for id in ids { try #require(try store.serials(of: id) == model[id] ?? []) }
      for byte in 1...8 as ClosedRange<UInt8> {
        let serial = AndroidSerial([byte])
        try #require(try store.devices(of: serial) == ids.filter { model[$0]?.contains(serial) == true })
      }
      try #require(try rows() <= model.values.reduce(0) { $0 + $1.count })
    }
    for id in ids { try store.delete(id) }
    #expect(try rows() == 0)
  }
}
