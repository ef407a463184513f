/// The signals of a phone: known members in their forms, others ignored, and the bytes kept as they came.
import Bytes
import Crypto
import DeviceWire
import Testing

@Suite struct SignalsTests {
  @Test func knownMembersAreRead() throws {
    let text = """
      { "tz":"Europe\\/Vienna", "mcc_mnc":"232-01", "wifi":"c0ffee", "os_patch_level":"2026-02-05", "lat_e1":-900,
        "lon_e1":1800, "acc_m":10000000, "mock_location":true, "adb_enabled":false, "rooted":true, "emulator":false,
        "debugger":true, "battery":0.5, "future":[null,{"a":-2.5e3}] }
      """
    let bytes = Array(text.utf8)
    let signals = try #require(Signals(bytes))
    let digest = SHA256.hash(bytes.span)
    #expect(signals.bytes == bytes && signals.hash == digest)
    #expect(signals.timeZone == "Europe/Vienna" && signals.network == "232-01" && signals.wifi == "c0ffee")
    #expect(signals.patchLevel == "2026-02-05" && signals.latitude == -900 && signals.longitude == 1800)
    #expect(signals.accuracy == 10_000_000 && signals.mockLocation == true && signals.debugBridge == false)
    #expect(signals.rooted == true && signals.emulator == false && signals.debugger == true)
  }

  @Test func allAreOptional() throws {
    let signals = try #require(Signals(Array("{}".utf8)))
    #expect(signals.timeZone == nil && signals.latitude == nil && signals.rooted == nil)
    #expect(Signals(base64: "e30") == signals && Signals(base64: "e30=") == signals)
    for bad in ["", "e31", "e30==", "eyJhIjoiPz8-In0+", " e30"] {
      #expect(Signals(base64: bad) == nil, "\(bad)")
    }
  }

  static let good = [
    #"{"tz":"GMT+03:30"}"#, #"{"mcc_mnc":"310410"}"#, #"{"mcc_mnc":"23201"}"#, #"{"mcc_mnc":"310-410"}"#,
    #"{"os_patch_level":"2026-12"}"#, #"{"os_patch_level":"2026-01-31"}"#, #"{"\u0074z":"UTC"}"#,
    #"{"wifi":"\u00eb"}"#, #"{"acc_m":0}"#, #"{"rooted":false,"Rooted":null}"#,
    "{\"tz\":\"\(String(repeating: "a", count: 64))\"}",
    "{\"wifi\":\"\(String(repeating: "w", count: 128))\"}", #"{"a":{"b":{"c":{"d":{"e":{"f":{"g":1}}}}}}}"#,
  ]

  @Test(arguments: good) func formsAreTaken(text: String) { #expect(Signals(Array(text.utf8)) != nil) }

  static let bad = [
    "", "[]", "null", "{}x", #"{"tz":""}"#, #"{"tz":"a b"}"#, #"{"tz":1}"#, #"{"tz":null}"#,
    "{\"tz\":\"\(String(repeating: "a", count: 65))\"}", #"{"mcc_mnc":"2320"}"#, #"{"mcc_mnc":"232-1"}"#,
    #"{"mcc_mnc":"23-201"}"#, #"{"mcc_mnc":"232-0100"}"#, #"{"mcc_mnc":"232--01"}"#, #"{"mcc_mnc":23201}"#,
    #"{"mcc_mnc":"\u0662\u0663\u066201"}"#, #"{"wifi":""}"#, #"{"wifi":"a\u202e"}"#,
    "{\"wifi\":\"\(String(repeating: "w", count: 129))\"}",
    #"{"os_patch_level":"2026"}"#, #"{"os_patch_level":"2026-00"}"#, #"{"os_patch_level":"2026-13"}"#,
    #"{"os_patch_level":"202602"}"#, #"{"os_patch_level":"2026-2"}"#, #"{"os_patch_level":"2026-02-00"}"#,
    #"{"os_patch_level":"2026-02-32"}"#, #"{"os_patch_level":"2026-02-01-"}"#, #"{"lat_e1":901}"#,
    #"{"lat_e1":-901}"#,
    #"{"lat_e1":48.2}"#, #"{"lat_e1":"482"}"#, #"{"lon_e1":1801}"#, #"{"lon_e1":1e2}"#, #"{"acc_m":-1}"#,
    #"{"acc_m":10000001}"#, #"{"rooted":1}"#, #"{"rooted":"true"}"#, #"{"debugger":null}"#, #"{"a":1,"a":2}"#,
    #"{"a":1,"\u0061":2}"#, #"{"a":{"b":1,"b":1}}"#, #"{"a":[[[[[[[[1]]]]]]]]}"#,
  ]

  @Test(arguments: bad) func otherFormsAreRefused(text: String) { #expect(Signals(Array(text.utf8)) == nil) }

  @Test func bytesAreCounted() {
    func text(_ count: Int) -> [UInt8] {
      Array(#"{"x":""#.utf8) + repeated(0x61, count - 8) + Array(#""}"#.utf8)
    }
    let most = text(4096)
    let mostText = Base64.encode(most.span)
    #expect(Signals(most) != nil && Signals(base64: mostText) != nil)
    let tooMany = text(4097)
    let tooManyText = Base64.encode(tooMany.span)
    #expect(Signals(tooMany) == nil && Signals(base64: tooManyText) == nil)
  }
}
