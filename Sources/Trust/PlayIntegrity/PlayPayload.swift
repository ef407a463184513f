/// What Google says of a request, an app and a device, and whether it is what is wanted (docs/android.md, "Play
/// Integrity"). Members that are not known are ignored; one that is missing fails the step that needs it.
package import Bytes
package import DeviceWire
package import JSON
package import Time

package struct PlayPayload: Sendable {
  package let object: JSONObject

  /// Of bytes that Google has signed.
  init(_ bytes: Span<UInt8>) throws(PlayRejection) {
    guard let object = (try? JSONValue(parsing: bytes, depthLimit: 16))?.object else { throw .payload }
    self.object = object
  }

  /// - Parameters:
  ///   - nonce: the one that was given out, before base64.
  ///   - apps: those that are known.
  package func judge(
    nonce: Bytes32, apps: [AndroidApp], now: UnixTime, maximumAge: Duration, required: PlayLevel
  ) throws(PlayRejection) -> PlayVerdict {
    let request = object["requestDetails"]?.object
    guard let package = request?["requestPackageName"]?.string,
      apps.contains(where: { $0.package.isSameText(as: package) })
    else { throw .requestPackage }
    guard let given = Self.bytes32(request?["nonce"]), given.equalsInConstantTime(nonce) else {
      throw .nonce
    }
    let timestamp = try Self.timestamp(request?["timestampMillis"])
    let age = now.milliseconds - timestamp.milliseconds
    guard age >= -Self.leeway else { throw .future }
    guard age <= maximumAge.wholeMilliseconds else { throw .stale }
    try judgeApp(package, among: apps)
    let level = try level()
    guard level >= required else { throw .level }
    return PlayVerdict(package: package, level: level, timestamp: timestamp)
  }

  private func judgeApp(_ package: String, among apps: [AndroidApp]) throws(PlayRejection) {
    let app = object["appIntegrity"]?.object
    guard app?["appRecognitionVerdict"]?.string?.isSameText(as: "PLAY_RECOGNIZED") == true else {
      throw .appVerdict
    }
    guard app?["packageName"]?.string?.isSameText(as: package) == true else { throw .appPackage }
    guard let digests = app?["certificateSha256Digest"]?.array, !digests.isEmpty else {
      throw .certificateDigest
    }
    for digest in digests {
      guard let digest = Self.bytes32(digest),
        apps.contains(where: { $0.package.isSameText(as: package) && $0.digests.contains(digest) })
      else { throw .certificateDigest }
    }
  }

  private func level() throws(PlayRejection) -> PlayLevel {
    guard let values = object["deviceIntegrity"]?.object?["deviceRecognitionVerdict"]?.array else {
      throw .deviceVerdict
    }
    var highest: PlayLevel?
    for value in values {
      guard let label = value.string else { throw .deviceVerdict }
      for level in PlayLevel.allCases where level.label.isSameText(as: label) {
        highest = max(highest ?? level, level)
      }
    }
    guard let highest else { throw .level }
    return highest
  }

  // MARK: Values

  /// How far Google's clock may be ahead of this one, in milliseconds.
  private static let leeway: Int64 = 60_000
  /// As far as JSON's numbers are exact: no time is later, and differences of such do not overflow.
  private static let latest: Int64 = 1 << 53 - 1

  /// Text as documented, of 1 to 15 digits, or a whole number of any length, which some tools write.
  private static func timestamp(_ value: JSONValue?) throws(PlayRejection) -> UnixTime {
    if case .number(let number)? = value, let time = number.clampedInteger {
      return UnixTime(milliseconds: min(max(time, -latest), latest))
    }
    guard let digits = value?.string?.utf8, (1...15).contains(digits.count),
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { throw .timestamp }
    return UnixTime(milliseconds: digits.reduce(0) { $0 * 10 + Int64($1 & 0x0F) })
  }

  /// From base64 of either alphabet, with padding or without: a nonce goes in without and has been seen to come back
  /// with it.
  private static func bytes32(_ value: JSONValue?) -> Bytes32? {
    guard let text = value?.string?.utf8, text.count == 43 || text.count == 44 else { return nil }
    // The alphabet with + and / is read only when it is padded.
    let padded = Array(text) + (text.count == 43 ? [UInt8(ascii: "=")] : [])
    return Base64.decode(padded.span).flatMap { Bytes32($0) }
  }
}
