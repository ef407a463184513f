/// Time zones: the table that stands in the module, and the two changes of clocks in a year.
import Addresses
import DeviceWire
import Testing

@testable import Risk

@Suite struct TimeZoneTests {
  private static func offset(_ name: String, _ time: Int64) throws -> [Int] {
    let time = try #require(UnixSeconds(time))
    return try #require(TimeZoneTable.rules(of: name)).map { $0.offset(at: time) }
  }

  /// Of each rule one zone: when clocks change in 2028, and their minutes before and in between, as Python's `zoneinfo` has them.
  private static let changes: [(String, Int64, Int, Int64, Int)] = [
    ("America/Adak", 1_836_475_200, -600, 1_857_034_800, -540),
    ("America/Anchorage", 1_836_471_600, -540, 1_857_031_200, -480),
    ("America/Ensenada", 1_836_468_000, -480, 1_857_027_600, -420),
    ("America/Boise", 1_836_464_400, -420, 1_857_024_000, -360),
    ("America/Chicago", 1_836_460_800, -360, 1_857_020_400, -300),
    ("Chile/EasterIsland", 1_838_257_200, -300, 1_851_566_400, -360),
    ("America/Havana", 1_836_450_000, -300, 1_857_013_200, -240),
    ("America/Detroit", 1_836_457_200, -300, 1_857_016_800, -240),
    ("America/Glace_Bay", 1_836_453_600, -240, 1_857_013_200, -180),
    ("America/Santiago", 1_838_257_200, -180, 1_851_566_400, -240),
    ("America/St_Johns", 1_836_451_800, -210, 1_857_011_400, -150),
    ("America/Miquelon", 1_836_450_000, -180, 1_857_009_600, -120),
    ("America/Godthab", 1_837_645_200, -120, 1_856_394_000, -60),
    ("Atlantic/Azores", 1_837_645_200, -60, 1_856_394_000, 0),
    ("Antarctica/Troll", 1_837_645_200, 0, 1_856_394_000, 120),
    ("Atlantic/Canary", 1_837_645_200, 0, 1_856_394_000, 60),
    ("Europe/Vienna", 1_837_645_200, 60, 1_856_394_000, 120),
    ("Asia/Jerusalem", 1_837_468_800, 120, 1_856_386_800, 180),
    ("Asia/Gaza", 1_837_555_200, 120, 1_856_300_400, 180),
    ("Asia/Beirut", 1_837_634_400, 120, 1_856_379_600, 180),
    ("Europe/Chisinau", 1_837_641_600, 120, 1_856_390_400, 180),
    ("Asia/Famagusta", 1_837_645_200, 120, 1_856_394_000, 180),
    ("Africa/Cairo", 1_840_485_600, 120, 1_856_206_800, 180),
    ("Australia/Adelaide", 1_838_219_400, 630, 1_853_944_200, 570),
    ("Antarctica/Macquarie", 1_838_217_600, 660, 1_853_942_400, 600),
    ("Australia/LHI", 1_838_214_000, 660, 1_853_940_600, 630),
    ("Pacific/Norfolk", 1_838_214_000, 720, 1_853_938_800, 660),
    ("Antarctica/McMurdo", 1_838_210_400, 780, 1_853_330_400, 720),
    ("NZ-CHAT", 1_838_210_400, 825, 1_853_330_400, 765),
  ]

  @Test(arguments: changes) func change(name: String, first: Int64, outside: Int, second: Int64, within: Int)
    throws
  {
    for (time, minutes) in [(first - 1, outside), (first, within), (second - 1, within), (second, outside)] {
      #expect(try Self.offset(name, time) == [minutes], "\(name) at \(time)")
    }
  }

  @Test(
    arguments: [
      ("UTC", 0), ("Etc/GMT+5", -300), ("Asia/Kolkata", 330), ("Asia/Calcutta", 330), ("Asia/Kathmandu", 345),
      ("Pacific/Marquesas", -570), ("Pacific/Kiritimati", 840), ("Etc/GMT+12", -720), ("EST", -300),
    ])
  func allTheYear(name: String, minutes: Int) throws {
    for time in [0, 1_772_452_800, 1_785_000_000, UnixSeconds.largest] {
      #expect(try Self.offset(name, time) == [minutes])
    }
  }

  /// Every entry is read, each name once but for those that have two times.
  @Test func whole() {
    #expect(TimeZoneTable.rules.count == 597)
    #expect(
      TimeZoneTable.rules.filter { $0.value.count != 1 }.keys.sorted() == [
        "Africa/Casablanca", "Africa/El_Aaiun",
      ])
    for text in ["", "x", "60/120", "60,3.5.0@60,10.5.0@60", "60/120,3.5.0@60", "60/120,3.5@60,10.5.0@60"] {
      #expect(TimeZoneRule(text) == nil, "\(text)")
    }
  }

  private static func findings(_ zone: String, at time: Int64, place: String = "Europe/Vienna") throws
    -> Bool?
  {
    var request = Request().with("\"tz\":\"\(zone)\"")
    request.time = time
    request.place.timeZone = place
    let findings = try request.findings()
    if findings.unknown.contains(.timeZoneMismatch) { return nil }
    return findings.reasons.contains(.timeZoneMismatch)
  }

  private static let winter: Int64 = 1_772_452_800
  private static let summer: Int64 = 1_785_000_000

  /// An hour that differs in one half of the year is the same in the other.
  @Test(
    arguments: [
      ("+01:00", false, true), ("GMT+1", false, true), ("UTC+0200", true, false), ("+02", true, false),
      ("Africa/Lagos", false, true), ("Africa/Johannesburg", true, false), ("Europe/Athens", true, true),
      ("Europe/Berlin", false, false), ("+05:30", true, true),
    ])
  func bothHalves(zone: String, inWinter: Bool, inSummer: Bool) throws {
    #expect(try Self.findings(zone, at: Self.winter) == inWinter)
    #expect(try Self.findings(zone, at: Self.summer) == inSummer)
  }

  /// A zone that is in no table has a name, and nothing else.
  @Test(
    arguments: [
      ("Europe/Nowhere", false), ("Europe/Vienna", true), ("Etc/UTC", true), ("+01:00", nil), ("GMT-9", nil),
    ] as [(String, Bool?)])
  func placeThatNobodyKnows(zone: String, isReason: Bool?) throws {
    #expect(try Self.findings(zone, at: Self.winter, place: "Europe/Nowhere") == isReason)
  }
}
