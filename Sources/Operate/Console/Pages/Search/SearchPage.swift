/// `/search`: whatever the query's `find` may mean, a person's last refusals among it.

struct SearchPage: Sendable {
  var text: String
  /// Sessions of now.
  var sessions: [SessionRow]
  /// The latest first.
  var refusals: [RefusalRow]
  var devices: [DeviceRow]
  var keys: [KeyRow]
  /// Whether phones were looked for as well.
  var hasDevices: Bool

  var isEmpty: Bool { sessions.isEmpty && refusals.isEmpty && devices.isEmpty && keys.isEmpty }
}
