/// The reasons to think less of a request for a code, by their words, and in the order in which they are told
/// (docs/risk.md, "Reasons").

package enum RiskReason: String, CaseIterable, Sendable {
  /// The first five: what the phone says of itself.
  case mockLocation = "mock_location"
  case debugBridge = "adb_enabled"
  case emulator
  case debugger
  case rooted
  case oldPatch = "old_patch"
  case timeZoneMismatch = "timezone_mismatch"
  case impossibleTravel = "impossible_travel"
  case networkChange = "asn_change"
  case countryChange = "country_change"
  case countryMismatch = "country_mismatch"
  case positionUnknown = "position_unknown"
  case attestFailed = "attest_failed"

  /// Whether it may be that nobody can say. The gate always knows when an attestation has failed.
  package var canBeUnknown: Bool { self != .attestFailed }
}
