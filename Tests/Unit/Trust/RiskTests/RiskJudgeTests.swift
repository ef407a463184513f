/// Reasons, one after the other, at both sides of their bounds; and what is neither a reason nor none.
import Addresses
import DeviceWire
import Risk
import Testing

/// A request that nothing is wrong with, of a device that was here an hour before.
struct Request {
  var signals = #"""
    {"tz":"Europe/Vienna","mcc_mnc":"23201","os_patch_level":"2026-01","lat_e1":482,"lon_e1":164,"acc_m":1000,
    "mock_location":false,"adb_enabled":false,"emulator":false,"debugger":false,"rooted":false}
    """#
  var time: Int64 = 1_772_452_800
  var place = Place(country: CountryCode("AT"), timeZone: "Europe/Vienna", network: 8447)
  var previousPlace: Place? = Place(country: CountryCode("AT"), timeZone: "Europe/Vienna", network: 8447)
  var previousTime: Int64 = 1_772_449_200
  var previousPosition = Position(latitude: 482, longitude: 164, accuracy: 1000)
  var minimumPatch: Int? = 202_501
  var attestFailedAt: Int64?
  var platform: DevicePlatform?

  func findings() throws -> RiskFindings {
    let signals = try #require(Signals(Array(signals.utf8)))
    let previousAt = try #require(UnixSeconds(previousTime))
    let time = try #require(UnixSeconds(time))
    return RiskJudge.findings(
      RiskQuestion(
        signals: signals, at: time, place: place,
        previous: previousPlace.map { RiskRecord(at: previousAt, position: previousPosition, place: $0) },
        minimumPatch: minimumPatch, attestFailedAt: attestFailedAt.flatMap { UnixSeconds($0) },
        platform: platform))
  }

  /// The signals with one member instead of what stands there.
  func with(_ member: String) -> Request {
    let name = member.prefix { $0 != ":" }
    var request = self
    var members = signals.dropFirst().dropLast().split(separator: ",").map { part in
      String(part.filter { !$0.isNewline })
    }
    members.removeAll { $0.hasPrefix(name) }
    if member.contains(":") { members.append(member) }
    request.signals = "{" + members.joined(separator: ",") + "}"
    return request
  }
}

@Suite struct RiskJudgeTests {
  @Test func nothingIsWrong() throws {
    let findings = try Request().findings()
    #expect(findings.reasons.isEmpty && findings.unknown.isEmpty)
    #expect(findings.travel?.distanceKm == 0 && findings.travel?.speedKmh == 0)
  }

  @Test(arguments: ["mock_location", "adb_enabled", "emulator", "debugger", "rooted"])
  func flags(name: String) throws {
    let reason = try #require(RiskReason(rawValue: name))
    #expect(try Request().with("\"\(name)\":true").findings().reasons == [reason])
    let without = try Request().with("\"\(name)\"").findings()
    #expect(without.reasons.isEmpty && without.unknown == [reason])
  }

  @Test func patches() throws {
    #expect(try Request().with(#""os_patch_level":"2024-12""#).findings().reasons == [.oldPatch])
    #expect(try Request().with(#""os_patch_level":"2024-12-31""#).findings().reasons == [.oldPatch])
    #expect(try Request().with(#""os_patch_level":"2025-01-01""#).findings().reasons == [])
    var request = Request().with(#""os_patch_level""#)
    #expect(try request.findings().unknown == [.oldPatch])
    request.platform = .ios
    #expect(try request.findings().unknown == [])
    request.platform = nil
    request.minimumPatch = nil
    #expect(try request.findings().unknown == [])
  }

  @Test(
    arguments: [
      (#""tz":"Europe/Berlin""#, false), (#""tz":"europe/vienna""#, true), (#""tz":"UTC""#, true),
      (#""tz":"Etc/GMT+5""#, true), (#""tz":"Europe/Vienna""#, false), (#""tz":"GMT+2""#, true),
      (#""tz":"+01:00""#, false), (#""tz":"-0330""#, true), (#""tz":"UTC-03:30""#, true),
      (#""tz":"+05:30""#, true), (#""tz":"+530""#, true), (#""tz":"+1""#, false), (#""tz":"UT+01""#, false),
      (#""tz":"Etc/GMT-1""#, false), (#""tz":"Africa/Casablanca""#, false), (#""tz":"Africa/Accra""#, true),
      (#""tz":"+24:00""#, true), (#""tz":"+0:100""#, true), (#""tz":"+01:60""#, true),
      (#""tz":"GMT+""#, true),
      (#""tz":"EST5EDT""#, true), (#""tz":"PST8PDT""#, true), (#""tz":"GMT0""#, true), (#""tz":"GMT""#, true),
      (#""tz""#, nil),
    ] as [(String, Bool?)])
  func timeZones(member: String, isReason: Bool?) throws {
    let findings = try Request().with(member).findings()
    #expect(findings.reasons == (isReason == true ? [.timeZoneMismatch] : []))
    #expect(findings.unknown == (isReason == nil ? [.timeZoneMismatch] : []))
  }

  /// With digits or without: the same name is the same zone, and so is the same time.
  @Test func timeZonesWithDigits() throws {
    var request = Request().with(#""tz":"EST5EDT""#)
    request.place.timeZone = "EST5EDT"
    #expect(try request.findings().reasons == [])
    request.place.timeZone = "America/New_York"
    #expect(try request.findings().reasons == [])
    request.place.timeZone = "CST6CDT"
    #expect(try request.findings().reasons == [.timeZoneMismatch])
  }

  @Test func networkAndCountry() throws {
    var request = Request()
    request.previousPlace = Place(country: CountryCode("DE"), timeZone: nil, network: 0)
    #expect(try request.findings().reasons == [.networkChange, .countryChange])
    request.previousPlace = .unknown
    var findings = try request.findings()
    #expect(findings.reasons == [] && findings.unknown == [.networkChange, .countryChange])
    request.previousPlace = nil
    findings = try request.findings()
    #expect(
      findings.reasons == [] && findings.unknown == [.impossibleTravel, .networkChange, .countryChange])
    #expect(findings.travel == nil)
    request = Request()
    request.place = .unknown
    findings = try request.findings()
    #expect(findings.reasons == [])
    #expect(findings.unknown == [.timeZoneMismatch, .networkChange, .countryChange, .countryMismatch])
  }

  @Test(
    arguments: [
      ("26201", true), ("262-01", true), ("232-01", false), ("99901", nil), ("90101", nil), ("00101", nil),
    ] as [(String, Bool?)])
  func mobileCountry(code: String, isReason: Bool?) throws {
    let findings = try Request().with("\"mcc_mnc\":\"\(code)\"").findings()
    #expect(findings.reasons == (isReason == true ? [.countryMismatch] : []))
    #expect(findings.unknown == (isReason == nil ? [.countryMismatch] : []))
  }

  /// No position is a reason of its own, and makes it impossible to say how far the phone has come.
  @Test(arguments: [#""lat_e1""#, #""lon_e1""#, #""acc_m":100001"#]) func noPosition(member: String) throws {
    let findings = try Request().with(member).findings()
    #expect(findings.reasons == [.positionUnknown])
    #expect(findings.unknown == [.impossibleTravel, .positionUnknown])
  }

  @Test(arguments: [(1_772_366_400, false), (1_772_366_401, true), (1_772_452_900, true)] as [(Int64, Bool)])
  func failedAttestation(at time: Int64, isReason: Bool) throws {
    var request = Request()
    request.attestFailedAt = time
    #expect(try request.findings().reasons == (isReason ? [.attestFailed] : []))
  }

  /// An attacker who leaves all of it out has all of it unknown.
  @Test func nothingSaid() throws {
    var request = Request()
    request.signals = "{}"
    let findings = try request.findings()
    #expect(findings.reasons == [.positionUnknown])
    let known: [RiskReason] = [.networkChange, .countryChange, .attestFailed]
    #expect(Set(findings.unknown) == Set(RiskReason.allCases).subtracting(known))
  }
}

@Suite struct TravelTests {
  /// London and New York, with its accuracy: five hours are too few, seven are not.
  @Test(arguments: [(5, true), (7, false)] as [(Int64, Bool)])
  func acrossAnOcean(hours: Int64, isReason: Bool) throws {
    var request = Request().with(#""lat_e1":515"#).with(#""lon_e1":-1"#)
    request.previousPosition = Position(latitude: 407, longitude: -740, accuracy: 1000)
    request.previousTime = request.time - hours * 3600
    let findings = try request.findings()
    #expect(findings.reasons == (isReason ? [.impossibleTravel] : []))
    let travel = try #require(findings.travel)
    #expect(abs(travel.distanceKm - 5572.813) < 0.5 && abs(travel.netKm - travel.distanceKm + 18) < 0.001)
    #expect(abs(travel.speedKmh - travel.netKm / Double(hours)) < 0.001)
  }

  /// Whatever the positions and clocks: it is finite, no farther than half way round, the same both ways, and as fast as in
  /// a minute at the most.
  @Test func anywhere() throws {
    let latitudes: [Int64] = [-900, 0, 900, .random(in: -900...900)]
    let longitudes: [Int64] = [-1800, 0, 1800, .random(in: -1800...1800)]
    let times = [0, UnixSeconds.largest, .random(in: 0...UnixSeconds.largest)]
    for _ in 0..<2000 {
      let places = try (0..<2).map { _ in
        let position = Position(
          latitude: latitudes[.random(in: 0..<4)], longitude: longitudes[.random(in: 0..<4)],
          accuracy: Bool.random() ? nil : 100_000)
        let time = try #require(UnixSeconds(times[.random(in: 0..<3)]))
        return RiskRecord.Part(try #require(position), at: time)
      }
      let there = Travel(from: places[0], to: places[1])
      let back = Travel(from: places[1], to: places[0])
      #expect((0...20_015.2).contains(there.distanceKm) && abs(there.distanceKm - back.distanceKm) < 1e-6)
      #expect(there.netKm >= 0 && there.netKm <= there.distanceKm)
      #expect(there.speedKmh >= 0 && there.speedKmh <= there.netKm * 60 + 1e-6)
    }
  }

  @Test func positionsAreWhole() {
    #expect(Position(latitude: 901, longitude: 0, accuracy: nil) == nil)
    #expect(Position(latitude: 0, longitude: -1801, accuracy: nil) == nil)
    #expect(Position(latitude: nil, longitude: 0, accuracy: nil) == nil)
    #expect(Position(latitude: 0, longitude: 0, accuracy: 100_001) == nil)
    #expect(Position(latitude: 0, longitude: 0, accuracy: 100_000) != nil)
  }
}

@Suite struct MobileCountriesTests {
  /// By ITU-T E.212: some with several codes, some codes with several territories, and codes of nobody.
  @Test(
    arguments: [
      (202, "GR"), (234, "GB"), (235, "GB"), (310, "US"), (316, "US"), (330, "PR"), (404, "IN"), (405, "IN"),
      (440, "JP"), (460, "CN"), (505, "AU"), (647, "RE"), (750, "FK"), (288, "FO"), (659, "SS"), (221, "XK"),
    ])
  func country(code: Int, country: String) {
    #expect(MobileCountries.of(code).first == CountryCode(country))
  }

  @Test(arguments: [-1, 0, 1, 199, 200, 201, 317, 901, 999, 1000, Int.max, Int.min]) func nobody(code: Int) {
    #expect(MobileCountries.of(code).isEmpty)
  }

  /// Every entry is read: codes rise, and no country is misspelt.
  @Test func whole() {
    let codes = (0...999).filter { !MobileCountries.of($0).isEmpty }
    #expect(codes.count == 241)
    #expect(codes.first == 202 && codes.last == 750)
    #expect(MobileCountries.of(208).count == 9 && MobileCountries.of(340).count == 5)
  }

  @Test(arguments: ["", "A", "at", "ATT", "A1", "ÄT"]) func noCountry(text: String) {
    #expect(CountryCode(text) == nil)
  }
}
