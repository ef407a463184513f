import Bytes
import DeviceWire
import JSON
import Testing

@testable import Device

/// What a phone believes of an answer, and shows.
@Suite struct PhoneAnswerTests {
  private func value(_ text: String) throws -> JSONValue {
    try JSONValue(parsing: Array(text.utf8).span, depthLimit: 8)
  }

  private func object(_ text: String) throws -> JSONObject { try #require(value(text).object) }

  @Test func whatIsShownIsWhatIsSigned() throws {
    let sample = try Sample.approval()
    let open = try #require(OpenApproval(value(sample.json)))
    #expect(open.summary == sample.summary && open.matchDigits == 2 && open.expiresAt.value == 1_800_000_060)
  }

  /// A summary that a parser reads but that is spelt otherwise, or that hides something.
  @Test(arguments: [#"{"v":1}"#, " {}", "", "{\"text\":\"\u{202E}\"}"])
  func anotherSummaryIsNotShown(summary: String) throws {
    let bytes = Base64.encodeURL(Array(summary.utf8).span)
    let good = try Sample.approval()
    let json = good.json.replacing(Base64.encodeURL(good.summary.bytes.span), with: bytes)
    #expect(OpenApproval(try value(json)) == nil)
  }

  @Test func aSpaceInTheSummaryIsNotShown() throws {
    let good = try Sample.approval()
    let spaced = [UInt8(ascii: " ")] + good.summary.bytes
    let json = good.json.replacing(
      Base64.encodeURL(good.summary.bytes.span), with: Base64.encodeURL(spaced.span))
    #expect(OpenApproval(try value(json)) == nil)
  }

  @Test(arguments: [(1, false), (0, true), (6, true), (7, false), (-1, false)])
  func digits(count: Int, isGood: Bool) throws {
    #expect((OpenApproval(try value(Sample.approval(digits: count).json)) != nil) == isGood)
  }

  /// One that cannot be shown makes the whole list unfit: what is left out silently would be missed.
  @Test func aListIsWholeOrNone() throws {
    let good = try Sample.approval().json
    #expect(OpenApprovals(try object("{\"items\":[\(good)],\"cursor\":\"x-1\"}"))?.items.count == 1)
    #expect(OpenApprovals(try object("{\"items\":[\(good),{}],\"cursor\":\"x\"}")) == nil)
    #expect(OpenApprovals(try object("{\"items\":[],\"cursor\":\"a&b\"}")) == nil)
    #expect(
      OpenApprovals(try object("{\"items\":[],\"cursor\":\"\(String(repeating: "a", count: 65))\"}")) == nil)
  }

  @Test func pinsAreAllOrNone() throws {
    let pin = Base64.encodeURL(Bytes32(words: 1, 2, 3, 4).array.span)
    #expect(PhonePins(try object("{\"pins\":[\"\(pin)\"]}"))?.hashes == [Bytes32(words: 1, 2, 3, 4)])
    for text in ["{}", "{\"pins\":[]}", "{\"pins\":[\"\(pin)\",\"AA\"]}", "{\"pins\":\"\(pin)\"}"] {
      #expect(PhonePins(try object(text)) == nil)
    }
  }

  @Test func aTokenFitsIntoAField() throws {
    #expect(PhoneToken("a.b.c", expiresAt: 100)?.isGood(at: 89) == true)
    #expect(PhoneToken("a.b.c", expiresAt: 100)?.isGood(at: 90) == false)
    for text in ["", "a b", "a\r\nX: y", "ä", String(repeating: "a", count: 4097)] {
      #expect(PhoneToken(text, expiresAt: nil) == nil)
    }
  }

  @Test func aChallengeNamesItsGate() throws {
    let nonce = Sample.nonce.hex
    let good = try object("{\"nonce\":\"\(nonce)\",\"expires\":1,\"server_id\":\"\(Sample.server)\"}")
    #expect(PhoneChallenge(good) == (try Sample.challenge()))
    #expect(PhoneChallenge(try object("{\"nonce\":\"\(nonce)\",\"expires\":1}")) == nil)
    #expect(PhoneChallenge(try object("{\"nonce\":\"AA\",\"server_id\":\"\(Sample.server)\"}")) == nil)
  }
}
