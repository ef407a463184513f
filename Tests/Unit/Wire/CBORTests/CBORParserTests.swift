/// Strict CBOR: the examples of RFC 8949 Appendix A that App Attest's subset has, and each rule that is
/// stricter.
import Glibc
import Testing

@testable import Bytes
@testable import CBOR

@Suite struct CBORParserTests {
  static func parse(_ bytes: [UInt8], _ limits: CBORLimits = CBORLimits(bytes: 1024)) throws(CBORError)
    -> CBORDocument
  {
    try CBORDocument.parse(bytes.span, limits: limits)
  }

  static func error(_ bytes: [UInt8], _ limits: CBORLimits = CBORLimits(bytes: 1024)) -> CBORError? {
    do throws(CBORError) {
      _ = try parse(bytes, limits)
      return nil
    } catch {
      return error
    }
  }

  /// RFC 8949 Appendix A.
  @Test(arguments: [
    ([UInt8]([0x00]), CBORDocument.Kind.unsigned(0)), ([0x17], .unsigned(23)), ([0x18, 0x18], .unsigned(24)),
    ([0x18, 0x64], .unsigned(100)), ([0x19, 0x03, 0xE8], .unsigned(1000)),
    ([0x1A, 0x00, 0x0F, 0x42, 0x40], .unsigned(1_000_000)),
    ([0x1B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .unsigned(.max)),
    ([0x3B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .negative(.max)), ([0x20], .negative(0)),
    ([0x38, 0x63], .negative(99)), ([0x40], .bytes(1..<1)), ([0x44, 0x01, 0x02, 0x03, 0x04], .bytes(1..<5)),
    ([0x60], .text(1..<1)), ([0x64, 0x49, 0x45, 0x54, 0x46], .text(1..<5)),
    ([0x64, 0xF0, 0x90, 0x85, 0x91], .text(1..<5)), ([0x80], .array(count: 0)), ([0xA0], .map(pairs: 0)),
    ([0x83, 0x01, 0x02, 0x03], .array(count: 3)), ([0xA1, 0x61, 0x61, 0x01], .map(pairs: 1)),
  ])
  func examples(bytes: [UInt8], kind: CBORDocument.Kind) throws {
    let document = try Self.parse(bytes)
    #expect(document.root.kind == kind)
    for count in 0..<bytes.count { #expect(Self.error(Array(bytes[..<count])) == .truncated) }
    #expect(Self.error(bytes + [0x00]) == .trailingBytes)
  }

  @Test(arguments: [
    ("24 could hold 0", [UInt8]([0x18, 0x17]), CBORError.notShortest),
    ("25 could be 24", [0x19, 0x00, 0xFF], .notShortest),
    ("26 could be 25", [0x1A, 0, 0, 0xFF, 0xFF], .notShortest),
    ("27 could be 26", [0x1B, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF], .notShortest),
    ("negative", [0x38, 0x00], .notShortest), ("bytes", [0x58, 0x01, 0x00], .notShortest),
    ("text", [0x78, 0x00], .notShortest), ("array", [0x98, 0x00], .notShortest),
    ("map", [0xB8, 0x00], .notShortest),
    ("text 25", [0x79, 0x00, 0x01, 0x61], .notShortest),
    ("indefinite bytes", [0x5F, 0xFF], .indefiniteLength),
    ("indefinite text", [0x7F, 0xFF], .indefiniteLength),
    ("indefinite array", [0x9F, 0xFF], .indefiniteLength),
    ("indefinite map", [0xBF, 0xFF], .indefiniteLength),
    ("break", [0xFF], .malformed), ("break in an array", [0x81, 0xFF], .malformed),
    ("tag", [0xC0, 0x00], .tag), ("self-described", [0xD9, 0xD9, 0xF7, 0x00], .tag),
    ("half", [0xF9, 0, 0], .float),
    ("single", [0xFA, 0, 0, 0, 0], .float), ("double", [0xFB, 0, 0, 0, 0, 0, 0, 0, 0], .float),
    ("false", [0xF4], .simpleValue), ("true", [0xF5], .simpleValue), ("null", [0xF6], .simpleValue),
    ("undefined", [0xF7], .simpleValue), ("unassigned simple", [0xE0], .malformed),
    ("simple in two bytes", [0xF8, 0x20], .malformed), ("reserved 28", [0x1C], .malformed),
    ("reserved 29", [0x5D], .malformed), ("reserved 30", [0x9E], .malformed),
    ("reserved 31", [0x1F], .malformed),
    ("invalid UTF-8", [0x61, 0xFF], .invalidUTF8), ("unfinished UTF-8", [0x61, 0xC3], .invalidUTF8),
    ("surrogate", [0x63, 0xED, 0xA0, 0x80], .invalidUTF8),
    ("key is a number", [0xA1, 0x01, 0x01], .keyIsNotText),
    ("key is bytes", [0xA1, 0x41, 0x61, 0x01], .keyIsNotText),
    ("key is an array", [0xA1, 0x80, 0x01], .keyIsNotText),
    ("duplicate", [0xA2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02], .duplicateKey),
    ("duplicate after a container", [0xA2, 0x61, 0x61, 0x82, 0x01, 0x02, 0x61, 0x61, 0x02], .duplicateKey),
    ("odd map", [0xA1, 0x61, 0x61], .truncated), ("nothing", [], .truncated),
  ])
  func refused(name: String, bytes: [UInt8], error: CBORError) {
    #expect(Self.error(bytes) == error, "\(name)")
  }

  @Test func equalKeysInDifferentMaps() throws {
    // {"a": {"a": 1}, "b": {"a": 1}}
    let bytes: [UInt8] = [0xA2, 0x61, 0x61, 0xA1, 0x61, 0x61, 0x01, 0x61, 0x62, 0xA1, 0x61, 0x61, 0x01]
    let document = try Self.parse(bytes)
    let pairs = document.pairs(of: document.root)
    #expect(pairs.map(\.key) == [2..<3, 8..<9])
    #expect(document.pairs(of: pairs[1].value).map(\.value.kind) == [.unsigned(1)])
    #expect(document.elements(of: document.root).isEmpty)
    #expect(document.pairs(of: pairs[1].value)[0].value.kind == .unsigned(1))
  }

  @Test func elements() throws {
    // [[1, 2], "a", -1]
    let document = try Self.parse([0x83, 0x82, 0x01, 0x02, 0x61, 0x61, 0x20])
    let elements = document.elements(of: document.root)
    #expect(elements.map(\.kind) == [.array(count: 2), .text(5..<6), .negative(0)])
    #expect(document.elements(of: elements[0]).map(\.kind) == [.unsigned(1), .unsigned(2)])
    #expect(document.pairs(of: elements[0]).isEmpty)
  }

  @Test func depth() {
    func nested(_ depth: Int) -> [UInt8] { [UInt8](repeating: 0x81, count: depth) + [0x00] }
    #expect(Self.error(nested(4)) == nil)
    #expect(Self.error(nested(5)) == nil)
    #expect(Self.error(nested(6)) == .tooDeep)
    #expect(Self.error([UInt8](repeating: 0x81, count: 1000)) == .tooDeep)
  }

  @Test func items() {
    func array(_ count: Int) -> [UInt8] { [0x98, UInt8(count)] + [UInt8](repeating: 0, count: count) }
    #expect(Self.error(array(62)) == nil)
    #expect(Self.error(array(63)) == nil)
    #expect(Self.error(array(64)) == .tooManyItems)
    // 31 pairs and their map are 63 items.
    let keys = (UInt8(0)..<31).flatMap { (number: UInt8) -> [UInt8] in [0x61, 0x41 + number, 0x00] }
    #expect(Self.error([0xB8, 0x1F] + keys) == nil)
    #expect(Self.error([0xB8, 0x20] + keys + [0x61, 0x7A, 0x00]) == .tooManyItems)
    // What an outer container has announced is not there for an inner one.
    #expect(Self.error([0x98, 0x3F, 0x81, 0x00]) == .tooManyItems)
  }

  @Test func bytes() {
    let text = [UInt8]([0x63, 0x61, 0x62, 0x63])
    #expect(Self.error(text, CBORLimits(bytes: 5)) == nil)
    #expect(Self.error(text, CBORLimits(bytes: 4)) == nil)
    #expect(Self.error(text, CBORLimits(bytes: 3)) == .tooManyBytes)
  }

  static let bombs: [[UInt8]] = [
    [0x9A, 0x10, 0x00, 0x00, 0x00], [0x9B, 0x20, 0, 0, 0, 0, 0, 0, 0], [0xBA, 0x10, 0x00, 0x00, 0x00],
    [0xBB, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    [0x5B, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    [0x5B, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], [0x7A, 0x7F, 0xFF, 0xFF, 0xFF], [0xBF], [0x9F],
    [UInt8](repeating: 0x9F, count: 1000), [UInt8](repeating: 0xC1, count: 1000),
    [0x81, 0x9A, 0xFF, 0xFF, 0xFF, 0xFF], [0xA1, 0x61, 0x61, 0x9A, 0x10, 0x00, 0x00, 0x00],
  ]

  /// In a process whose address space may grow by 32 MiB only: a reservation by what a head claims would end
  /// it.
  @Test func bombsCostNoMemory() async {
    await #expect(processExitsWith: .success) {
      let pages = try String(contentsOfProcFile: "/proc/self/statm").split(separator: " ")
      let used = UInt(pages.first ?? "") ?? 0
      let most = used * 4096 + 32 << 20
      var limit = rlimit(rlim_cur: most, rlim_max: most)
      guard used > 0, unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else { exit(2) }
      for _ in 0..<10_000 {
        for bomb in CBORParserTests.bombs where CBORParserTests.error(bomb) == nil { exit(3) }
      }
    }
  }

  /// Whatever bytes come, parsing returns, and what it returns has the size of the input.
  @Test func randomBytes() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: 0...255, using: &generator) }
      guard let document = try? Self.parse(bytes) else { continue }
      switch document.root.kind {
      case .bytes(let content), .text(let content): #expect(content.upperBound == bytes.count)
      default: break
      }
    }
  }
}

extension String {
  fileprivate init(contentsOfProcFile path: String) throws {
    guard let file = unsafe fopen(path, "r") else { exit(4) }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    self = String(decoding: bytes[..<count], as: UTF8.self)
  }
}
