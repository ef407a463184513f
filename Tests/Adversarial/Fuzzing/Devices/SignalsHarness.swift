/// A phone's signals: what is accepted is an object for our reader of JSON as well, its known members within their bounds, and
/// what is not known changes nothing.
internal import Bytes
internal import DeviceWire
internal import JSON

enum SignalsHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let fromBase64 = Signals(base64: Base64.encodeURL(bytes.span))
    guard let signals = Signals(bytes) else {
      try require(fromBase64 == nil, "accepted in base64 only")
      return .refused
    }
    try require(fromBase64 == signals && signals.bytes == bytes, "other signals in base64")
    let tree = try? JSONValue(parsing: bytes.span, depthLimit: Signals.depthLimit)
    guard let object = tree?.object else { throw BrokenProperty("no object for the other reader") }
    try require(signals.timeZone == object["tz"]?.string, "another time zone")
    try require(signals.network == object["mcc_mnc"]?.string, "another network")
    try require(signals.wifi == object["wifi"]?.string, "another wireless network")
    try require(signals.patchLevel == object["os_patch_level"]?.string, "another patch level")
    try require(signals.latitude == object["lat_e1"]?.integer, "another latitude")
    try require(signals.longitude == object["lon_e1"]?.integer, "another longitude")
    try require(signals.accuracy == object["acc_m"]?.integer, "another accuracy")
    try require(signals.mockLocation == object["mock_location"]?.boolean, "another mock_location")
    try require(signals.debugBridge == object["adb_enabled"]?.boolean, "another adb_enabled")
    try require(signals.rooted == object["rooted"]?.boolean, "another rooted")
    try require(signals.emulator == object["emulator"]?.boolean, "another emulator")
    try require(signals.debugger == object["debugger"]?.boolean, "another debugger")
    try require((-900...900).contains(signals.latitude ?? 0), "beyond the poles")
    try require((-1800...1800).contains(signals.longitude ?? 0), "around the earth")
    try require((0...10_000_000).contains(signals.accuracy ?? 0), "an accuracy out of bounds")
    try require((1...64).contains(signals.timeZone?.utf8.count ?? 1), "a time zone too long")
    try require((1...128).contains(signals.wifi?.utf8.count ?? 1), "a wireless network too long")
    try require([5, 6, 7, nil].contains(signals.network?.utf8.count), "a network of another length")
    try require([7, 10, nil].contains(signals.patchLevel?.utf8.count), "a patch level of another length")
    return .accepted
  }
}
