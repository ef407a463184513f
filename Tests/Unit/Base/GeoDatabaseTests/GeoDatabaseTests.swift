/// Files of every form, and files that were damaged, cut, written over, or made to harm.
import Addresses
import Foundation
import GeoDatabase
import Kit
import Testing

@Suite struct GeoDatabaseTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder("geo-") }

  private func write(_ bytes: [UInt8]) throws -> String { try folder.write("places.mmdb", bytes) }

  private func open(_ writer: MaxMindWriter) throws -> MaxMindFile {
    try MaxMindFile.open(try write(try writer.bytes()))
  }

  private func place(of address: String, in writer: MaxMindWriter) throws -> Place {
    try GeoDatabase(countries: open(writer), networks: nil).place(of: #require(IPAddress(address)))
  }

  /// Made for each test: LeakSanitizer does not see what a value of an indirect enumeration points to, and would take one
  /// that is kept for ever for lost.
  private static var cities: MaxMindWriter {
    MaxMindWriter(networks: [
      ("192.0.2.0/24", MaxMindWriter.city("AT", "Europe/Vienna")),
      ("192.0.2.128/25", MaxMindWriter.city("DE", "Europe/Berlin")),
      ("2001:db8::/32", MaxMindWriter.city("US", "America/New_York")),
    ])
  }

  @Test(arguments: [24, 28, 32] as [UInt16]) func cities(recordSize: UInt16) throws {
    var writer = Self.cities
    writer.recordSize = recordSize
    let file = try open(writer)
    #expect(file.type == "Test-City" && file.builtAt == 1_772_452_800)
    let database = GeoDatabase(countries: file, networks: nil)
    for (text, country, zone) in [
      ("192.0.2.1", "AT", "Europe/Vienna"), ("192.0.2.127", "AT", "Europe/Vienna"),
      ("192.0.2.128", "DE", "Europe/Berlin"), ("::ffff:192.0.2.200", "DE", "Europe/Berlin"),
      ("2001:db8::1", "US", "America/New_York"), ("192.0.3.0", "", ""), ("2001:db9::", "", ""),
      ("::1", "", ""),
    ] {
      let place = database.place(of: try #require(IPAddress(text)))
      #expect(
        place.country == CountryCode(country) && place.timeZone == (zone.isEmpty ? nil : zone), "\(text)")
      #expect(place.network == nil)
    }
  }

  @Test func networks() throws {
    var writer = MaxMindWriter(type: "Test-ASN", ipVersion: 4, recordSize: 24)
    writer.networks = [
      ("192.0.2.0/24", MaxMindWriter.network(64_496)), ("198.51.100.0/24", MaxMindWriter.network(0)),
      ("203.0.113.0/24", MaxMindWriter.network(.max)),
      ("100.64.0.0/10", .map([("autonomous_system_number", .text("AS64496"))])),
    ]
    let networks = try open(writer)
    let database = GeoDatabase(countries: nil, networks: networks)
    let expected: [(String, UInt32?)] = [
      ("192.0.2.77", 64_496), ("198.51.100.1", 0), ("203.0.113.1", .max), ("100.64.0.1", nil),
      ("10.0.0.1", nil),
      // Of a file of IPv4 alone nothing can be asked about IPv6.
      ("2001:db8::1", nil),
    ]
    for (text, number) in expected {
      #expect(database.place(of: try #require(IPAddress(text))) == Place(network: number), "\(text)")
    }
    #expect(GeoDatabase(countries: nil, networks: nil).place(of: .loopbackV4) == .unknown)
    // One in the place of the other knows nothing.
    #expect(GeoDatabase(countries: networks, networks: nil).place(of: .loopbackV4) == .unknown)
  }

  /// Writers share what is the same: keys, values and maps may be pointers, of every length.
  @Test(arguments: [0, 3000, 600_000]) func pointers(distance: Int) throws {
    var preamble = [UInt8](repeating: 0, count: distance)
    func append(_ value: MaxMindValue) -> MaxMindValue {
      defer { preamble += value.bytes }
      return .pointer(preamble.count)
    }
    let (key, code) = (append(.text("iso_code")), append(.text("AT")))
    let country = append(.raw(MaxMindValue.head(7, 1) + key.bytes + code.bytes))
    let name = append(.text("country"))
    let writer = MaxMindWriter(
      preamble: preamble,
      networks: [("192.0.2.0/24", .raw(MaxMindValue.head(7, 1) + name.bytes + country.bytes))])
    #expect(try place(of: "192.0.2.1", in: writer).country == CountryCode("AT"))
  }

  @Test(
    arguments: [
      .text("AT"), .map([]), .array([]), .uint32(7), .pointer(0), .pointer(1 << 30), .raw([]), .raw([0xFF]),
      .map([("country", .text("AT"))]), .map([("country", .map([("iso_code", .uint16(1))]))]),
      .map([("country", .map([("iso_code", .text("at"))]))]),
      .map([("country", .map([("iso_code", .raw([0x42, 0xC3, 0x28]))]))]),
      .map([("country", .map([("iso_code", .text(String(repeating: "A", count: 300)))]))]),
      // A key that is no text, a map that says it has more, a pointer to a pointer, and one to itself.
      .raw([0xE1, 0xA1, 0x01, 0x42, 0x41, 0x54]), .raw(MaxMindValue.head(7, 1 << 24)),
      .raw([0x20, 0x02, 0x20, 0x00]),
      .raw([0x00, 0x00]), .raw([0x00, 0xFF]), .raw([0x07, 0x00]), .raw([0x38, 0xFF, 0xFF, 0xFF, 0xFF]),
    ] as [MaxMindValue])
  func strangeRecords(value: MaxMindValue) throws {
    let place = try place(of: "192.0.2.1", in: MaxMindWriter(networks: [("192.0.2.0/24", value)]))
    #expect(place == .unknown)
  }

  /// More levels than a stack holds, in front of what is looked for: in records, where the library would go down, and in
  /// metadata, where it does so while it opens the file.
  @Test func nesting() throws {
    let deep = [UInt8]((0..<2_000_000).flatMap { _ in [0x01, 0x04] as [UInt8] })
    let record = MaxMindValue.raw(
      MaxMindValue.head(7, 2) + MaxMindValue.text("a").bytes + deep + MaxMindValue.text("country").bytes)
    #expect(
      try place(of: "192.0.2.1", in: MaxMindWriter(networks: [("192.0.2.0/24", record)])) == .unknown)
    var writer = Self.cities
    writer.moreMetadata = [("a", .raw(Array(deep.prefix(100_000)) + [0xE0]))]
    let path = try write(try writer.bytes())
    #expect(throws: GeoDatabaseError.self) { try MaxMindFile.open(path) }
  }

  /// Arrays that name the one before twice: few bytes, and more values than anybody can walk through.
  @Test func expansion() throws {
    var writer = Self.cities
    // Behind the key and the head of the bytes that carry them.
    let base = writer.metadataSize + 2 + 2
    var arrays = MaxMindValue.text("x").bytes
    var last = 0
    for _ in 0..<30 {
      let next = arrays.count
      arrays += MaxMindValue.array([.pointer(base + last), .pointer(base + last)]).bytes
      last = next
    }
    writer.moreMetadata = [("a", .raw(MaxMindValue.head(4, arrays.count) + arrays))]
    #expect(throws: Never.self) { try self.open(writer) }
    writer.moreMetadata.append(("b", .pointer(base + last)))
    #expect(throws: GeoDatabaseError.self) { try self.open(writer) }
  }

  @Test func wide() throws {
    let members = (0..<30_000).map { ("k\($0)", MaxMindValue.uint16(1)) }
    let value = MaxMindValue.map(members + [("country", .map([("iso_code", .text("AT"))]))])
    #expect(try place(of: "192.0.2.1", in: MaxMindWriter(networks: [("192.0.2.0/24", value)])) == .unknown)
  }

  // MARK: Files

  @Test(arguments: ["", "x", "MaxMind.com", "\u{0}\u{0}"]) func noDatabase(text: String) throws {
    let path = try write(Array(text.utf8))
    #expect(throws: GeoDatabaseError.self) { try MaxMindFile.open(path) }
    #expect(throws: GeoDatabaseError.self) { try MaxMindFile.open(path + "-missing") }
    #expect(throws: GeoDatabaseError.self) { try MaxMindFile.open(self.folder.path) }
  }

  @Test func otherForms() throws {
    for change in [
      { $0.nodeCount = 0 }, { $0.nodeCount = .max }, { $0.nodeCount = 1 << 20 }, { $0.ipVersion = 5 },
    ] as [(inout MaxMindWriter) -> Void] {
      var writer = Self.cities
      change(&writer)
      let path = try write(try writer.bytes())
      // Refused, or of no use; never more.
      if let file = try? MaxMindFile.open(path) {
        _ = GeoDatabase(countries: file, networks: file).place(of: .loopbackV4)
      }
    }
  }

  /// Each prefix of a file, and each of its bytes changed: refused or read, and whatever is read is of the right form.
  @Test func damage() throws {
    let small = MaxMindWriter(
      ipVersion: 4, recordSize: 24,
      networks: [("16.0.0.0/4", MaxMindWriter.city("AT", "Europe/Vienna")), ("128.0.0.0/1", .pointer(0))])
    let good = try small.bytes()
    let addresses = ["16.0.2.1", "192.0.2.200", "255.255.255.255", "0.0.0.0"].compactMap { IPAddress($0) }
    func look(_ bytes: [UInt8]) throws {
      guard let file = try? MaxMindFile.open(try write(bytes)) else { return }
      let database = GeoDatabase(countries: file, networks: file)
      for address in addresses { _ = database.place(of: address) }
    }
    for length in good.indices { try look(Array(good[..<length])) }
    for index in good.indices {
      for change in [good[index] ^ 1, good[index] ^ 0x80, 0xFF, 0] as [UInt8] {
        var bytes = good
        bytes[index] = change
        try look(bytes)
      }
    }
  }

  /// Who updates a file in place cuts it off first: what is open goes on as it was.
  @Test func writtenOver() throws {
    let path = try write(try Self.cities.bytes())
    let database = GeoDatabase(countries: try MaxMindFile.open(path), networks: nil)
    _ = try write([])
    let address = try #require(IPAddress("192.0.2.1"))
    #expect(database.place(of: address).country == CountryCode("AT"))
    #expect(throws: GeoDatabaseError.self) { try MaxMindFile.open(path) }
  }

  @Test func tooLarge() throws {
    let path = try write([])
    let file = try FileHandle(forWritingTo: URL(filePath: folder.file("places.mmdb")))
    try file.truncate(atOffset: 1 << 29 + 1)
    #expect(throws: GeoDatabaseError.self) { try MaxMindFile.open(path) }
  }
}
