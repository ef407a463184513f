import Foundation
import Logging
import Time
import Testing

@testable import Logs

/// docs/logs.md, "Logs": one line an event, in canonical order, whatever the values hold.
@Suite struct LogLineTests {
  static let time = UnixTime(milliseconds: 1_771_286_400_000)

  func line(_ fields: Logger.Metadata, _ format: LogFormat = .text, event: String = "upgrade") -> String {
    let line = LogLine(time: Self.time, level: .info, event: event, fields: fields).bytes(format)
    return String(decoding: line, as: UTF8.self)
  }

  static let head = "time=2026-02-17T00:00:00.000Z level=info event=upgrade"

  @Test func order() {
    let fields: Logger.Metadata = [
      "zeta": "1", "keyId": "abcdefgh", "step": "counter", "code": "assertion_rejected", "result": "refused",
      "source": "192.0.2.1", "connection": "12", "alpha": "2",
      "verifyMs": .stringConvertible(Duration.microseconds(1204)),
    ]
    #expect(
      line(fields) == Self.head
        + " connection=12 source=192.0.2.1 result=refused code=assertion_rejected step=counter keyId=abcdefgh"
        + " alpha=2 verifyMs=1.204 zeta=1\n")
    #expect(
      line(fields, .json)
        == #"{"time":"2026-02-17T00:00:00.000Z","level":"info","event":"upgrade","connection":"12","#
        + #""source":"192.0.2.1","result":"refused","code":"assertion_rejected","step":"counter","#
        + #""keyId":"abcdefgh","alpha":"2","verifyMs":1.204,"zeta":"1"}"# + "\n")
  }

  @Test(arguments: [
    (Logger.MetadataValue.string("a b"), "\"a b\"", "\"a b\""), (.string(""), "\"\"", "\"\""),
    (.string("x\ny=\u{202E}"), "\"x\\ny=\\u202e\"", "\"x\\ny=\\u202e\""), (.stringConvertible(7), "7", "7"),
    (.stringConvertible(UInt32.max), "4294967295", "4294967295"), (.stringConvertible(true), "true", "true"),
    (.stringConvertible(Duration.seconds(61)), "61000.000", "61000.000"),
    (.stringConvertible(Duration.nanoseconds(999)), "0.000", "0.000"),
    (.stringConvertible(1.5), "1.5", "\"1.5\""),
    (.array(["a", .stringConvertible(2)]), "\"[\\\"a\\\",2]\"", "[\"a\",2]"), (.array([]), "[]", "[]"),
    (
      .dictionary(["b": "2", "a": ["x"]]), "\"{\\\"a\\\":[\\\"x\\\"],\\\"b\\\":\\\"2\\\"}\"",
      "{\"a\":[\"x\"],\"b\":\"2\"}"
    ),
    (LogText.peer(([0x61, 0xFF, 0x0A] as [UInt8]).span), "\"a\\xff\\n\"", "\"a\\ufffd\\n\""),
    (LogText.peer("plain"), "plain", "\"plain\""),
  ])
  func values(value: Logger.MetadataValue, text: String, json: String) throws {
    #expect(line(["v": value]) == "\(Self.head) v=\(text)\n")
    let object = line(["v": value], .json)
    #expect(object.hasSuffix(",\"v\":\(json)}\n"))
    #expect((try? JSONSerialization.jsonObject(with: Data(object.utf8))) != nil)
  }

  @Test(arguments: [127, 128, 129, 132, 133, 5000]) func peersValuesAreCut(count: Int) {
    let long = String(repeating: "x", count: count)
    let expected = count <= 128 ? long : String(long.prefix(128)) + "\u{2026}"
    #expect(line(["v": LogText.peer(long)]) == "\(Self.head) v=\(expected)\n")
    let bytes = LogText.peer(Array(long.utf8).span)
    #expect(line(["v": bytes]) == "\(Self.head) v=\(expected)\n")
    #expect(LogText.escape(long) == expected)
    #expect("\(LogText.peer(long))" == expected)
  }

  @Test func peersValuesAreCutBetweenCharacters() {
    for lead in 0..<4 {
      let text = String(repeating: "x", count: lead) + String(repeating: "\u{1F409}", count: 40)
      let shown = line(["v": LogText.peer(text)])
      let whole = (128 - lead) / 4
      let expected =
        String(repeating: "x", count: lead) + String(repeating: "\u{1F409}", count: whole) + "\u{2026}"
      #expect(shown == "\(Self.head) v=\(expected)\n")
    }
  }

  @Test func ourValuesAndEventsAreBoundedToo() {
    #expect(line(["v": .string(String(repeating: "x", count: 5000))]).utf8.count < 1200)
    #expect(line([:], event: String(repeating: "x", count: 5000)).utf8.count < 1200)
    #expect(
      line([:], event: "two words\n") == "time=2026-02-17T00:00:00.000Z level=info event=\"two words\\n\"\n")
  }

  @Test func fieldsCannotPassForTimeLevelOrEvent() {
    #expect(line(["time": "x", "level": "y", "event": "z"]) == Self.head + "\n")
  }

  @Test(arguments: LogFormat.allCases) func aLineIsOneLine(format: LogFormat) {
    for byte in UInt8.min...UInt8.max {
      let value = LogText.peer([byte, 0x41, byte].span)
      let line = LogLine(time: Self.time, level: .error, event: "e", fields: ["v": value]).bytes(format)
      #expect(line.last == 0x0A)
      #expect(line.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F })
      #expect(String(validating: line, as: UTF8.self) != nil)
    }
  }
}
