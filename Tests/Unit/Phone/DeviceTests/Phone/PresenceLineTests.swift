import Bytes
import DeviceWire
import Testing

@testable import Device

/// What desktop and phone say to each other, and what neither takes for it.
@Suite struct PresenceLineTests {
  private static let question =
    #"{"nonce":"\#(Sample.nonce.hex)","desktop_id":"\#(Sample.server)","expires_at":1800000010}"#
  private static let signature = "MAYCAQECAQE"
  private static let answer =
    #"{"device_id":"\#(Sample.device)","nonce":"\#(Sample.nonce.hex)","signed_at":1800000000,"#
    + #""signature":"\#(signature)"}"#

  @Test func asTheyAreWritten() throws {
    let question = try #require(PresenceQuestion(line: Self.question))
    #expect(question.line == Self.question && question.desktop.text == Sample.server)
    #expect(question.expiresAt.value == 1_800_000_010)
    let answer = try #require(PresenceAnswer(line: Self.answer))
    #expect(answer.line == Self.answer && answer.device.text == Sample.device)
    let sent = String(decoding: answer.form(strength: -70).bytes, as: UTF8.self)
    #expect(sent == Self.answer.dropLast() + #","rssi":-70}"#)
  }

  /// With anything left out, or of another form.
  @Test func othersAreNone() {
    for line in [
      "", "{}", "[]", Self.answer, Self.question + ",", Self.question.replacing("0", with: "A"),
      Self.question.replacing("1800000010", with: "-1"), Self.question.replacing("1800000010", with: "\"1\""),
      Self.question.replacing(Sample.server, with: Sample.server.uppercased()),
    ] { #expect(PresenceQuestion(line: line) == nil, "\(line)") }
    for line in [
      "", "{}", Self.question, Self.answer.replacing(Sample.device, with: "x"),
      Self.answer.replacing("1800000000", with: "1.5"), Self.answer.replacing(Self.signature, with: "AAAA"),
    ] { #expect(PresenceAnswer(line: line) == nil, "\(line)") }
  }
}
