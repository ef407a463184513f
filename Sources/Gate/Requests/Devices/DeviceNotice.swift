/// What the device that plays in a session is told beside what the game says.

package enum DeviceNotice: Sendable {
  /// So many requests wait for its vote.
  case approvals(open: Int)
  /// A login waits for its one-time code.
  case codeWanted
}
