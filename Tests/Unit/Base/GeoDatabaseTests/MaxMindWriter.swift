/// Writes files in MaxMind's format (MaxMind DB File Format Specification 2.0), good and bad ones.
import Addresses

indirect enum MaxMindValue {
  case text(String)
  case uint16(UInt16)
  case uint32(UInt32)
  case boolean(Bool)
  case map([(String, MaxMindValue)])
  case array([MaxMindValue])
  /// To an offset of the data section.
  case pointer(Int)
  case raw([UInt8])

  var bytes: [UInt8] {
    switch self {
    case .text(let text): Self.head(2, text.utf8.count) + Array(text.utf8)
    case .uint16(let number): Self.head(5, 2) + Self.bigEndian(UInt64(number), 2)
    case .uint32(let number): Self.head(6, 4) + Self.bigEndian(UInt64(number), 4)
    case .boolean(let boolean): Self.head(14, boolean ? 1 : 0)
    case .map(let members):
      Self.head(7, members.count) + members.flatMap { MaxMindValue.text($0).bytes + $1.bytes }
    case .array(let elements): Self.head(11, elements.count) + elements.flatMap(\.bytes)
    case .pointer(let offset): Self.pointer(offset)
    case .raw(let bytes): bytes
    }
  }

  static func head(_ type: UInt8, _ size: Int) -> [UInt8] {
    let (length, rest): (UInt8, [UInt8]) =
      switch size {
      case ..<29: (UInt8(size), [])
      case ..<285: (29, [UInt8(size - 29)])
      case ..<65_821: (30, bigEndian(UInt64(size - 285), 2))
      default: (31, bigEndian(UInt64(size - 65_821), 3))
      }
    return type <= 7 ? [type << 5 | length] + rest : [length, type - 7] + rest
  }

  private static func pointer(_ offset: Int) -> [UInt8] {
    switch offset {
    case ..<2048: [0x20 | UInt8(offset >> 8), UInt8(offset & 0xFF)]
    case ..<526_336:
      [0x28 | UInt8((offset - 2048) >> 16)] + bigEndian(UInt64((offset - 2048) & 0xFFFF), 2)
    case ..<134_744_064:
      [0x30 | UInt8((offset - 526_336) >> 24)] + bigEndian(UInt64((offset - 526_336) & 0xFF_FFFF), 3)
    default: [0x38] + bigEndian(UInt64(offset), 4)
    }
  }

  static func bigEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}

struct MaxMindWriter {
  var type = "Test-City"
  var ipVersion: UInt16 = 6
  var recordSize: UInt16 = 28
  /// Appended to the data section before the records.
  var preamble: [UInt8] = []
  var networks: [(block: String, value: MaxMindValue)] = []
  /// Instead of the count that is right.
  var nodeCount: UInt32?
  var moreMetadata: [(String, MaxMindValue)] = []

  private enum Record: Equatable {
    case empty
    case node(Int)
    case data(Int)
  }

  /// The whole file.
  func bytes() throws -> [UInt8] {
    var nodes: [[Record]] = [[.empty, .empty]]
    var data = preamble
    for (text, value) in networks {
      let block = try CIDRBlock(parsing: text)
      let offset = data.count
      data += value.bytes
      var bits = block.network.networkBytes.flatMap { byte in (0..<8).map { Int(byte >> (7 - $0)) & 1 } }
      var length = block.prefixLength
      if block.network.family == .v4, ipVersion == 6 {
        bits = [Int](repeating: 0, count: 96) + bits
        length += 96
      }
      insert(.data(offset), bits.prefix(length), into: &nodes)
    }
    var file: [UInt8] = []
    for node in nodes { file += pair(node.map { number($0, nodes.count) }) }
    file += [UInt8](repeating: 0, count: 16) + data
    return file + [0xAB, 0xCD, 0xEF] + Array("MaxMind.com".utf8) + metadata(nodes.count).bytes
  }

  private func insert(_ record: Record, _ bits: ArraySlice<Int>, into nodes: inout [[Record]]) {
    var node = 0
    for bit in bits.dropLast() {
      if case .node(let next) = nodes[node][bit] {
        node = next
      } else {
        let inherited = nodes[node][bit]
        nodes.append([inherited, inherited])
        nodes[node][bit] = .node(nodes.count - 1)
        node = nodes.count - 1
      }
    }
    if let bit = bits.last { nodes[node][bit] = record }
  }

  private func number(_ record: Record, _ count: Int) -> UInt64 {
    switch record {
    case .empty: UInt64(count)
    case .node(let index): UInt64(index)
    case .data(let offset): UInt64(count + 16 + offset)
    }
  }

  private func pair(_ numbers: [UInt64]) -> [UInt8] {
    guard recordSize == 28 else {
      return numbers.flatMap { MaxMindValue.bigEndian($0, Int(recordSize) / 8) }
    }
    let middle = UInt8(numbers[0] >> 24) << 4 | UInt8(numbers[1] >> 24)
    return MaxMindValue.bigEndian(numbers[0], 3) + [middle] + MaxMindValue.bigEndian(numbers[1], 3)
  }

  /// In bytes, as long as its members fit into the head's five bits.
  var metadataSize: Int { metadata(0).bytes.count }

  private func metadata(_ count: Int) -> MaxMindValue {
    .map(
      [
        ("binary_format_major_version", .uint16(2)), ("binary_format_minor_version", .uint16(0)),
        ("build_epoch", .raw([0x04, 0x02] + MaxMindValue.bigEndian(1_772_452_800, 4))),
        ("database_type", .text(type)), ("description", .map([("en", .text("made by a test"))])),
        ("ip_version", .uint16(ipVersion)), ("languages", .array([.text("en")])),
        ("node_count", .uint32(nodeCount ?? UInt32(count))), ("record_size", .uint16(recordSize)),
      ] + moreMetadata)
  }

  static func city(_ country: String, _ zone: String) -> MaxMindValue {
    .map([
      ("continent", .map([("code", .text("EU")), ("names", .map([("en", .text("Europe"))]))])),
      ("country", .map([("is_in_european_union", .boolean(true)), ("iso_code", .text(country))])),
      ("location", .map([("accuracy_radius", .uint16(20)), ("time_zone", .text(zone))])),
      ("subdivisions", .array([.map([("iso_code", .text("9"))])])),
    ])
  }

  static func network(_ number: UInt32) -> MaxMindValue {
    .map([
      ("autonomous_system_number", .uint32(number)), ("autonomous_system_organization", .text("Example")),
    ])
  }
}
