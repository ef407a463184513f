import ApprovalPolicy
import DeviceWire
import Testing

@Suite struct AssuranceTests {
  private func assurance(_ text: String) throws -> AssurancePolicy {
    let bytes = Array(text.utf8)
    return try AssurancePolicy(parsing: bytes.span)
  }

  private func problems(_ text: String) -> [String] {
    do {
      _ = try assurance(text)
      return []
    } catch let failure as PolicyFailure {
      return failure.problems.map(\.description)
    } catch {
      return ["\(error)"]
    }
  }

  @Test(arguments: [
    ("true", true, nil), ("false", false, nil), (#""device""#, true, PlayTrust.device),
    (#""strong""#, true, .strong),
  ])
  func playMayHaveAMinimum(_ play: String, needs: Bool, minimum: PlayTrust?) throws {
    let policy = try assurance(#"{"classes":[{"name":"a","match":{"subject":"*"},"play":\#(play)}]}"#)
    let found = policy.assurance(of: "frodo")
    #expect(found.needsPlay == needs && found.playMinimum == minimum)
  }

  @Test(arguments: [#""basic""#, #""STRONG""#, "1", "null"]) func playHasNoOtherWords(_ play: String) {
    #expect(throws: PolicyFailure.self) {
      try assurance(#"{"classes":[{"name":"a","match":{"subject":"*"},"play":\#(play)}]}"#)
    }
  }

  @Test func theFirstMatchHolds() throws {
    let policy = try assurance(
      #"""
      {"classes":[
        {"name":"wizards","match":{"subject":["admin-*","gandalf"]},"level":"hardware_attested","uv":"hardware",
         "play":true,"presence":true,"otp_attest_max_age":"10m","reattest_after":3600,"min_app_version":"1.10",
         "next_heartbeat":"1h"},
        {"name":"rest","match":{"subject":"*"},"level":"app_attested"}]}
      """#)
    for name in ["admin-sam", "gandalf"] {
      let found = policy.assurance(of: name)
      #expect(
        found.name == "wizards" && found.level == .hardwareAttested && found.userVerification == .hardware)
      #expect(found.needsPlay && found.needsPresence && found.otpAttestMaxAge == 600)
      #expect(found.reattestAfter == 3600 && found.nextHeartbeat == 3600)
      #expect(found.minAppVersion == AppVersion("1.10.0"))
    }
    for name in ["frodo", "admin", nil] { #expect(policy.assurance(of: name).name == "rest") }
    #expect(AssurancePolicy.none.assurance(of: "frodo") == .unnamed)
  }

  @Test(arguments: [
    (#"{}"#, "classes is missing: write a list of at most 1000 objects"),
    (
      #"{"classes":[{"name":"a","match":{}}]}"#,
      #"class 1: match.subject is missing: write ["*"] for everybody"#
    ),
    (
      #"{"classes":[{"name":"a"}]}"#,
      #"class 1: match is missing: write "match":{"subject":["*"]} for everybody"#
    ),
    (
      #"{"classes":[{"match":{"subject":"*"}}]}"#,
      "class 1: name is missing: write a name to tell the class by"
    ),
    (
      #"{"classes":[{"name":"a","match":{"subject":"*"},"next_heartbeat":"1w"}]}"#,
      #"class 1: next_heartbeat 1w is no time from 1s to 365d: write seconds, or a text like "90s", "10m", "12h", "7d""#
    ),
    (
      #"{"classes":[{"name":"a","match":{"subject":"*"},"min_app_version":"1.02"}]}"#,
      #"class 1: min_app_version 1.02 is no version: write whole numbers between dots, like "1.4.0""#
    ),
    (
      #"{"classes":[{"name":"a","match":{"subject":"*"}},{"name":"a","match":{"subject":"*"}}]}"#,
      "class 2: name a is another class's too: give each class a name of its own"
    ),
    (
      #"{"classes":[{"name":"a","match":{"subject":"*"},"reattest_after":31536001}]}"#,
      #"class 1: reattest_after 31536001 is no time from 1s to 365d: write seconds, or a text like "90s", "10m", "12h", "7d""#
    ),
  ])
  func bad(_ text: String, _ problem: String) {
    #expect(problems(text) == [problem])
  }

  @Test(arguments: [
    ("1", "1.0", 0), ("1.9", "1.10", -1), ("2", "1.99.99", 1), ("0.0.1", "0.0.1.0", 0), ("1.0.1", "1.1", -1),
  ])
  func versions(_ left: String, _ right: String, _ order: Int) throws {
    let (left, right) = (try #require(AppVersion(left)), try #require(AppVersion(right)))
    #expect((left < right) == (order < 0) && (left == right) == (order == 0) && (left > right) == (order > 0))
  }

  @Test(arguments: ["", ".", "1.", "1..2", "+1", "-1", "01", "1.a", "4294967296", "1.2.3.4.5.6.7.8.9", " 1"])
  func noVersions(_ text: String) {
    #expect(AppVersion(text) == nil)
  }
}
