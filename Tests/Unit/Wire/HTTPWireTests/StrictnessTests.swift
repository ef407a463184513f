/// The heads among the rows of Tests/EndToEnd/support/players/strictness.jsonl, whose members `strictness.py` there explains.
import Foundation
import Kit
import PortcullisProtocol
import Testing

@testable import HTTPWire

struct StrictnessRow: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  let send: String
  let expect: [String]
  let keeps: Bool
  let rule: String?

  var testDescription: String { name }

  static let all: [StrictnessRow] = {
    do {
      let table = try Repository.text("Tests/EndToEnd/support/players/strictness.jsonl")
      return try table.split(separator: "\n").filter { $0.hasPrefix("{") }.map { line in
        try JSONDecoder().decode(StrictnessRow.self, from: Data(line.utf8))
      }
    } catch {
      Issue.record(error)
      return []
    }
  }()

  /// What goes over the wire; every second part of `send` stands between angle brackets.
  var bytes: [UInt8] {
    let parts = send.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "⟨" || $0 == "⟩" }
    return parts.enumerated().flatMap { index, part in
      index.isMultiple(of: 2) ? Self.latin1(part) : Self.expanded(part)
    }
  }

  private static func latin1(_ part: Substring.UnicodeScalarView) -> [UInt8] {
    part.map { UInt8($0.value) }
  }

  private static func expanded(_ macro: Substring.UnicodeScalarView) -> [UInt8] {
    let words = String(macro).split(separator: " ")
    if words.first == "upgrade" {
      return upgradeFields.filter { words.last != $0.prefix { $0 != ":" } }.flatMap {
        Array("\($0)\r\n".utf8)
      }
    }
    let count = macro.prefix { $0 != "×" }
    let repeated = latin1(macro[count.endIndex...].dropFirst())
    return repeatElement(repeated, count: Int(String(count)) ?? 0).flatMap(\.self)
  }

  private static let upgradeFields = [
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]
}

@Suite struct StrictnessTests {
  @Test func theTableIsThere() {
    #expect(StrictnessRow.all.count >= 480)
  }

  /// What is refused, by whichever of the two readers.
  private struct Refused: Equatable {
    let step: String
    let answer: String
    let keeps: Bool

    init(_ refusal: RequestRefusal) {
      step = refusal.step
      answer = "\(refusal.status.rawValue) \(refusal.code.rawValue)" + (refusal.isHead ? ", no body" : "")
      keeps = refusal.connectionMayLive
    }

    init(_ violation: ChunkedDecoder.Violation) {
      step = violation.step
      answer = "\(violation.code.status.rawValue) \(violation.code.rawValue)"
      keeps = false
    }
  }

  /// Head and chunks are refused where the table says so, by the rule it names, and nowhere else.
  @Test(arguments: StrictnessRow.all) func theParserRefuses(row: StrictnessRow) {
    let refusals = refusals(in: row.bytes, step: Int.max)
    #expect(refusals.map(\.step) == (row.rule.map { [$0] } ?? []))
    #expect(self.refusals(in: row.bytes, step: 1) == refusals)
    for refusal in refusals {
      #expect(refusal.keeps == row.keeps)
      #expect(row.expect.contains(refusal.answer))
    }
  }

  /// What is refused of these requests, when `step` more bytes come at a time.
  private func refusals(in bytes: [UInt8], step: Int) -> [Refused] {
    var refusals: [Refused] = []
    var parser = RequestParser()
    var decoder: ChunkedDecoder?
    var start = 0
    var end = 0
    while end < bytes.count {
      end += min(step, bytes.count - end)
      reading: while start < end {
        if var chunks = decoder {
          var body: [UInt8] = []
          do throws(ChunkedDecoder.Violation) {
            start += try chunks.decode(bytes.span.extracting(start..<end), into: &body)
          } catch {
            return refusals + [Refused(error)]
          }
          decoder = chunks.isWhole ? nil : chunks
          continue
        }
        switch parser.parse(bytes.span.extracting(start..<end)) {
        case .needMore: break reading
        case .head(let head, let consumed):
          guard head.keepsAlive else { return refusals }
          start += consumed + min(head.bodyLength ?? 0, bytes.count)
          if head.isChunked {
            // Whoever serves it closes without reading the body of one that has no use for it.
            guard head.method == .post else { return refusals }
            decoder = ChunkedDecoder(limit: 64 << 10)
          }
        case .refused(let refusal):
          refusals.append(Refused(refusal))
          guard let consumed = refusal.consumed else { return refusals }
          start += consumed
        }
      }
    }
    return refusals
  }
}
