/// Which page a path is about. Segments are what `ConsolePath` writes: nothing in them is encoded.

enum ConsolePlace: Equatable {
  case overview
  case sessions
  case session(UInt64)
  case endSession(UInt64)
  case keys
  case keysExport
  /// By its identifier, or a beginning of it that one key alone has, in base64url.
  case key(String)
  case revokeKey(String)
  case devices
  case device(String)
  case confirmDevice(String)
  case revokeDevice(String)
  case approvals
  case approval(String)
  case confirmApproval(String)
  case refuseApproval(String)
  case refusals
  case audit
  case auditExport
  case configuration
  case reload
  case drain
  case undrain
  case endAll

  /// Whether programs ask, and the script: the same places below `/api`.
  static func isJSON(_ path: String) -> Bool { path.hasPrefix("/api/") }

  init?(_ path: String) {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    if Self.isJSON(path) {
      parts.removeFirst()
      if parts == [""] { return nil }
      if parts == ["overview"] { parts = [""] }
    }
    guard let place = Self.place(parts) else { return nil }
    self = place
  }

  private static func place(_ parts: [String]) -> ConsolePlace? {
    switch (parts.count, parts.first) {
    case (1, ""): .overview
    case (1, "sessions"): .sessions
    case (2, "sessions"): number(parts[1]).map { .session($0) }
    case (3, "sessions"): parts[2] == "end" ? number(parts[1]).map { .endSession($0) } : nil
    case (1, "keys"): .keys
    case (2, "keys"): parts[1] == "export" ? .keysExport : .key(parts[1])
    case (3, "keys"): parts[2] == "revoke" ? .revokeKey(parts[1]) : nil
    case (1, "devices"): .devices
    case (2, "devices"): .device(parts[1])
    case (3, "devices"):
      parts[2] == "confirm" ? .confirmDevice(parts[1]) : parts[2] == "revoke" ? .revokeDevice(parts[1]) : nil
    case (1, "approvals"): .approvals
    case (2, "approvals"): .approval(parts[1])
    case (3, "approvals"):
      parts[2] == "confirm"
        ? .confirmApproval(parts[1]) : parts[2] == "refuse" ? .refuseApproval(parts[1]) : nil
    case (1, "refusals"): .refusals
    case (1, "audit"): .audit
    case (2, "audit"): parts[1] == "export" ? .auditExport : nil
    case (1, "configuration"): .configuration
    case (2, "configuration"): parts[1] == "reload" ? .reload : nil
    case (1, "drain"): .drain
    case (2, "drain"): parts[1] == "end" ? .endAll : nil
    case (1, "undrain"): .undrain
    default: nil
    }
  }

  /// In its one spelling.
  private static func number(_ text: String) -> UInt64? {
    UInt64(text).flatMap { "\($0)" == text ? $0 : nil }
  }
}
