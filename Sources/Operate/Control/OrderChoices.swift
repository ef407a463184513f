/// Words that an order takes for what it lists or excepts.

package enum DeviceState: String, CaseIterable, Sendable {
  case pending, active, revoked
}

package enum DeviceLack: String, CaseIterable, Sendable {
  case level, uv, play, presence, attestation
}

package enum ApprovalState: String, CaseIterable, Sendable {
  case pending, approved, denied, reported, expired, cancelled
}
