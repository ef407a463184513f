/// How far Google's word about a phone has to go (docs/android.md, "Play Integrity").

/// How far Play Integrity has to trust the phone that an app runs on.
package enum PlayTrust: String, CaseIterable, Comparable, Sendable {
  case device, strong

  package static func < (left: Self, right: Self) -> Bool { left == .device && right == .strong }
}
