/// Takes the lock of wrong codes from a subject: `devices unlock`.
internal import DeviceWire
internal import PortcullisProtocol

/// Wrong codes are counted from the beginning.
struct UnlockSubject: RegistryCall {
  private let subject: Subject
  /// The subject's name, if it is that of a device: one that belongs to nobody is counted by itself.
  private let device: DeviceID?

  init(_ arguments: OrderArguments) throws(FormError) {
    let name = try arguments.text("subject")
    guard let subject = Subject(stored: name) else { throw FormError("subject") }
    self.subject = subject
    device = DeviceID(name)
  }

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var wrong = 0
    var isLocked = false
    for holder in [.subject(subject)] + (device.map { [CodeHolder.device($0)] } ?? []) {
      let found = try transaction.wrongCodes(of: holder)
      guard found != WrongCodes() else { continue }
      wrong += found.count
      isLocked = isLocked || found.lockedAt != nil
      try transaction.store.setWrongCodes(WrongCodes(), of: holder)
      try transaction.record(.subjectUnlocked, holder.audited + [.count(found.count)])
    }
    if wrong == 0 { try requireKnown(transaction) }
    var answer = DeviceAnswer()
    answer.put("was_locked", isLocked)
    answer.put("wrong_codes", Int64(wrong))
    return .reply(answer.reply())
  }

  /// A name that nobody has is mistyped.
  private func requireKnown(_ transaction: Transaction) throws(CallFailure) {
    var isKnown = false
    if let device { isKnown = try transaction.store.device(device) != nil }
    if !isKnown {
      isKnown = try !transaction.store.devices(of: subject, in: nil, after: nil, limit: 1).isEmpty
    }
    guard isKnown else { throw .refused(.notFound, "unlock_subject") }
  }
}
