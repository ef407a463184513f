import Kit
import Testing

@testable import Bytes

/// RFC 3629 §4, and the table of well-formed sequences it comes from (Unicode 3.1, table 3.1B).
@Suite struct UTF8ValidatorTests {
  static let valid: [[UInt8]] = [
    [], [0x00], [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF],
    [0xEE, 0x80, 0x80],
    [0xEF, 0xBF, 0xBF], [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
  ]
  /// The bytes, and the index of the first bad one.
  static let invalid: [([UInt8], Int)] = [
    ([0x80], 0), ([0xBF], 0), ([0xC0, 0x80], 0), ([0xC1, 0xBF], 0), ([0xE0, 0x9F, 0x80], 1),
    ([0xED, 0xA0, 0x80], 1),
    ([0xF0, 0x8F, 0x80, 0x80], 1), ([0xF4, 0x90, 0x80, 0x80], 1), ([0xF5], 0), ([0xFF], 0),
    ([0xC2, 0x41], 1),
    ([0xE1, 0x80, 0x41], 2), ([0xF1, 0x80, 0x80, 0xC0], 3),
  ]

  @Test(arguments: valid) func accepted(bytes: [UInt8]) {
    for prefix in 0...70 {
      var validator = UTF8Validator()
      let text = [UInt8](repeating: 0x61, count: prefix) + bytes
      let accepted = validator.accept(text.span)
      #expect(accepted)
      #expect(validator.isComplete)
      var pieces = UTF8Validator()
      for byte in text {
        let accepted = pieces.accept(byte)
        #expect(accepted)
      }
      #expect(pieces == validator)
    }
  }

  @Test(arguments: invalid) func refusedAtTheFirstBadByte(bytes: [UInt8], bad: Int) {
    for prefix in 0...70 {
      var validator = UTF8Validator()
      let text = [UInt8](repeating: 0x61, count: prefix) + bytes + [0x61]
      let count = validator.acceptPrefix(of: text.span)
      #expect(count == prefix + bad)
    }
  }

  @Test(arguments: valid.filter { $0.count > 1 }) func unfinished(bytes: [UInt8]) {
    var validator = UTF8Validator()
    let accepted = validator.accept(Array(bytes.dropLast()).span)
    #expect(accepted)
    #expect(!validator.isComplete)
  }

  /// Against the standard library, on bytes that are often nearly right.
  @Test func agreesWithTheStandardLibrary() {
    var random = SplitMix(seed: 3629)
    let interesting: [UInt8] = [
      0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF4,
      0xF5,
    ]
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0...6, using: &random)).map { _ in
        interesting.randomElement(using: &random) ?? 0
      }
      var validator = UTF8Validator()
      let verdict = validator.accept(bytes.span) && validator.isComplete
      #expect(verdict == (String(validating: bytes, as: UTF8.self) != nil), "\(bytes)")
    }
  }
}
