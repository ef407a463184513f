/// What the audit calls what happens to one-time codes; no row has digits, texts or names of logins.
internal import DeviceWire

extension AuditEntry.Event {
  /// A service asks for a code.
  static let codeAsked = Self("code_asked")
  static let codeIssued = Self("code_issued")
  static let codePassed = Self("code_passed")
  /// A wrong one while another was good.
  static let codeWrong = Self("code_wrong")
  /// The login has ended without its code; `state` says how.
  static let codeEnded = Self("code_ended")
  static let subjectLocked = Self("subject_locked")
  static let subjectUnlocked = Self("subject_unlocked")
}

extension CodeChallenge {
  /// Which login a row is about, and whose.
  var audited: [AuditEntry.Member] { [.word("challenge_id", id.text)] + holder.audited }

  /// The same of what a device has done, which may be the holder itself.
  func audited(by device: DeviceID) -> [AuditEntry.Member] {
    holder == .device(device) ? audited : [.device(device)] + audited
  }
}

extension CodeHolder {
  var audited: [AuditEntry.Member] {
    switch self {
    case .subject(let subject): [.subject(subject)]
    case .device(let device): [.device(device)]
    }
  }
}
