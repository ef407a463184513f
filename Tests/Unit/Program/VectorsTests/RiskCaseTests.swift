/// Recorded requests for codes: what a case may expect, and what is no case.
import Bytes
import Crypto
import Testing
import Vectors

@Suite struct RiskCaseTests {
  private static func line(_ signals: String, _ more: String, _ expect: String) -> [UInt8] {
    Array(
      #"""
      {"name":"n","kind":"risk","signals":{"lat_e1":482,"lon_e1":164,"emulator":true\#(signals)},
      "previous":{"at":1772449200,"lat_e1":515,"lon_e1":-1},"current":{"at":1772452800}\#(more),
      "expect":{"result":"accept"\#(expect)}}
      """#.utf8)
  }

  @Test func answer() throws {
    let judged = try JudgedLine(
      Self.line(
        "", "", #","reasons":["emulator","impossible_travel"],"distance_km":1235.51,"speed_kmh":1219.46"#),
      P256Verifier())
    guard case .accept(let facts) = judged.verdict else {
      Issue.record("not accepted")
      return
    }
    #expect(facts.map(\.name) == ["reasons", "distance_km", "net_km", "speed_kmh"])
    #expect(facts.first?.value == "emulator, impossible_travel" && !judged.hasOtherRisk)
  }

  /// A missing, a superfluous and a misplaced reason, distances beside the mark: none passes for what was expected.
  @Test(
    arguments: [
      #","reasons":["emulator"]"#, #","reasons":["impossible_travel","emulator"]"#,
      #","reasons":["emulator","rooted","impossible_travel"]"#, #","distance_km":1235.4"#,
      #","net_km":1219.6"#, #","speed_kmh":1219.7"#,
    ])
  func otherThanExpected(expect: String) throws {
    #expect(try JudgedLine(Self.line("", "", expect), P256Verifier()).hasOtherRisk)
  }

  @Test func either() throws {
    let expect = #","reasons":["impossible_travel"],"either":["emulator","rooted"]"#
    #expect(try !JudgedLine(Self.line("", "", expect), P256Verifier()).hasOtherRisk)
  }

  @Test func distanceThatIsNotKnown() throws {
    let line = Self.line(#","acc_m":100001"#, "", #","distance_km":1"#)
    #expect(try JudgedLine(line, P256Verifier()).hasOtherRisk)
  }

  @Test(arguments: [#","rooted":1"#, #","tz":null"#]) func malformedSignals(
    member: String
  ) throws {
    guard case .reject("signals", _) = try JudgedLine(Self.line(member, "", ""), P256Verifier()).verdict
    else {
      Issue.record("not refused")
      return
    }
  }

  /// What is no object at all, what is not there, and what is nested deeper than nine objects of a line would be.
  @Test(
    arguments: [
      #""signals":[],"#, #""signals":"{}","#, #""signals":null,"#, #""signals":1,"#, #""signals":true,"#, "",
      #""signals":{"a":\#(String(repeating: "[", count: 20) + String(repeating: "]", count: 20))},"#,
    ])
  func noSignals(member: String) throws {
    let line = Array(
      #"{"name":"n","kind":"risk",\#(member)"current":{"at":1},"expect":{"result":"reject","check":"signals"}}"#
        .utf8)
    guard case .reject("signals", _) = try JudgedLine(line, P256Verifier()).verdict else {
      Issue.record("not refused")
      return
    }
  }

  @Test(
    arguments: [
      #","attest_failed_at":"now""#, #","attest_failed_at":-1"#, #","policy":{"min_os_patch":"2025"}"#,
    ])
  func noCase(member: String) {
    #expect(throws: VectorError.self) { try JudgedLine(Self.line("", member, ""), P256Verifier()) }
  }
}
