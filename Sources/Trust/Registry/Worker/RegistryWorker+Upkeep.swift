/// What the registry does by time: the start with its clock, the parts' upkeep, the audit's counts and heads, copies, the
/// end.
internal import Bytes
internal import Crypto
internal import DeviceTokens
internal import DeviceWire
internal import PortcullisProtocol
internal import Time

extension RegistryWorker {
  /// How far the store's time may be behind, in milliseconds.
  static let timeStep: Int64 = 1000
  /// A clock that is set back by more leaves nobody able to say how long something has been open.
  private static let tolerance: Duration = .seconds(60)
  static let headInterval: Duration = .seconds(3600)
  /// When the parts are asked again though none has said so.
  private static let longestRest: Duration = .seconds(3600)

  static func time(of store: RegistryDatabase) throws(CallFailure) -> UnixTime {
    guard let bytes = try store.value(StoreValue.time) else { return UnixTime(milliseconds: 0) }
    guard let time = UnixTime(bytes: bytes) else {
      throw .store(.broken("the time is not written in its form"))
    }
    return time
  }

  func start() throws(CallFailure) {
    _ = store.keepReserve()
    try announceStanding()
    if try store.value(StoreValue.unnamedBeginning) != nil { try nameBeginning() }
    if try store.value(StoreValue.restored) != nil { try endRestored() }
    let behind = storedTime.milliseconds - clock.wall().milliseconds
    guard behind > Self.tolerance.wholeMilliseconds else { return }
    listener.note(.clockBehind(by: .milliseconds(behind)))
    try endAll(because: .clockBehind, .count(Int(behind / 1000)))
  }

  /// The copy has had no keys: the gate has made others, and the audit says which one signs.
  private func endRestored() throws(CallFailure) {
    try endAll(because: .restored, .word("current_key", tokens.ring.current.key.identifier))
  }

  private func endAll(
    because event: AuditEntry.Event, _ members: AuditEntry.Member...
  ) throws(CallFailure) {
    try atStart(forgetting: StoreValue.restored) { transaction throws(CallFailure) in
      for part in self.upkeep { try part.endAll(&transaction) }
      try transaction.record(event, members)
    }
  }

  private func nameBeginning() throws(CallFailure) {
    let beginning = try store.auditBeginning()
    try atStart(forgetting: StoreValue.unnamedBeginning) { transaction throws(CallFailure) in
      try transaction.record(.pruned, beginning.named)
    }
  }

  /// Outside of any group.
  /// - Parameter name: of the value that said that it is to be done.
  private func atStart(
    forgetting name: String, _ body: (inout Transaction) throws(CallFailure) -> Void
  ) throws(CallFailure) {
    var transaction = transaction(for: .gate)
    try durably { () throws(CallFailure) in
      try body(&transaction)
      try store.setValue(name, nil)
      return true
    }
    for effect in transaction.effects { listener.hear(effect) }
  }

  // MARK: By time

  func tendIfDue() {
    guard outage == nil else { return }
    let now = time.now()
    if let due = devices.refusals.due, due <= now { writeTally() }
    if dueAt <= now { tend(now) }
    if headDueAt <= now { tellHead() }
    eraseIfDue()
  }

  private func tend(_ now: UnixTime) {
    dueAt = now.adding(Self.longestRest)
    for part in upkeep {
      var next: UnixTime?
      inGroup { transaction throws(CallFailure) in next = try part.tend(&transaction) }
      if outage != nil { return }
      if let next { dueAt = min(dueAt, next) }
    }
  }

  /// What cannot be written is counted on.
  private func writeTally() {
    let before = devices.refusals
    let counts = devices.refusals.take()
    if counts.isEmpty { return }
    let isWritten = inGroup { transaction throws(CallFailure) in
      for (counted, count) in counts {
        switch counted {
        case .stranger(let code): try transaction.record(.strangersRefused, .code(code), .count(count))
        case .known(let asker): try transaction.record(.refusedMore, asker, .count(count))
        }
      }
    }
    if !isWritten { devices.refusals = before }
  }

  /// Runs a piece of work as a group of its own, after which nobody waits for an answer.
  /// - Returns: whether it is on the disk.
  @discardableResult
  private func inGroup(_ body: (inout Transaction) throws(CallFailure) -> Void) -> Bool {
    var transaction = transaction(for: .gate)
    do throws(CallFailure) {
      try durably { () throws(CallFailure) in
        try body(&transaction)
        return transaction.hasRecorded
      }
    } catch {
      // A rule of the tables, or a refusal: nothing is wrong with the store.
      if case .constraint = error.ofStore { return false }
      fail(error.ofStore, with: [])
      return false
    }
    if let reminder = transaction.reminder { dueAt = min(dueAt, reminder) }
    for effect in transaction.effects where effect.isUrgent { listener.hear(effect) }
    tell(transaction.effects)
    return true
  }

  /// Hours in which nobody is promised anything count as well: a clock that is set back while the gate is stopped must not
  /// give them back to what was open.
  private func keepTime() {
    // Which is looked after when its time comes.
    if outage != nil { return }
    do throws(CallFailure) {
      try durably { () throws(CallFailure) in true }
    } catch {
      fail(error.ofStore, with: [])
    }
  }

  /// The end of the audit, signed, for the log.
  private func tellHead() {
    let now = time.now()
    headDueAt = now.adding(Self.headInterval)
    keepTime()
    guard let end = try? store.auditEnd(), end.sequence > 0 else { return }
    let key = tokens.ring.current.key
    guard let head = try? AuditHead.sign(end, at: UnixSeconds(now), of: server, with: key) else { return }
    listener.note(.auditHead(head))
  }

  // MARK: Copies

  func beginCopying(named name: String, for request: Registry.Request) {
    guard copying == nil else {
      return request.completion(.refused(RegistryRefusal(.overloaded, "copy_under_way")))
    }
    do throws(StoreFailure) {
      try store.beginCopy(named: name)
      copying = request
    } catch {
      request.completion(.refused(Self.copyRefusal(error, named: name)))
    }
  }

  func goOnCopying() {
    guard let request = copying, outage == nil else { return }
    do throws(StoreFailure) {
      guard try store.continueCopy() else { return }
      copying = nil
      request.completion(.answered(Array("{}".utf8)))
    } catch {
      copying = nil
      request.completion(.refused(Self.copyRefusal(error, named: "it")))
    }
  }

  /// Whoever ends does not wait for it: it may take longer than there is.
  func giveUpCopy() {
    guard let request = copying else { return }
    copying = nil
    store.endCopy()
    refuse([request])
  }

  /// What fails here is the copy, and not the store.
  private static func copyRefusal(_ failure: StoreFailure, named name: String) -> RegistryRefusal {
    switch failure {
    case .constraint:
      RegistryRefusal(
        .badRequest, "copy_name_taken",
        says: "there is a file \(name) beside the store already: give the copy another name, or move that "
          + "file away")
    case .full: RegistryRefusal(.storeUnavailable, "copy_disk_full")
    case .broken, .inUse: RegistryRefusal(.storeUnavailable, "copy_failed")
    }
  }

  // MARK: The end

  func finish() {
    giveUpCopy()
    writeAtLast()
    if outage == nil {
      if devices.refusals.due != nil { writeTally() }
      tellHead()
    }
    eraseAtLast()
    store.close()
  }
}

extension UnixTime {
  /// What a start may promise at the earliest: nothing later was promised before.
  var promised: UnixTime { milliseconds == 0 ? self : adding(.milliseconds(RegistryWorker.timeStep)) }

  /// Eight bytes, big endian.
  var bytes: [UInt8] { UInt64(bitPattern: milliseconds).bigEndianBytes }

  init?(bytes: [UInt8]) {
    guard let number = UInt64(bigEndian: bytes) else { return nil }
    self.init(milliseconds: Int64(bitPattern: number))
  }
}
