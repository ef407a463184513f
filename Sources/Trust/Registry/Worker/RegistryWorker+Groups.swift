/// A group of calls: each in a savepoint of its own, all under one commit, and answers when that has returned.
internal import Bytes
internal import DeviceWire
internal import PortcullisProtocol
internal import System
internal import Time

extension RegistryWorker {
  /// What a request has come to, to be told when the group is durable.
  struct Result {
    let request: Registry.Request
    let outcome: Outcome
    let effects: [RegistryEffect]
    let reminder: UnixTime?
    /// Whose token it came with.
    var bearer: DeviceID?
    /// Somebody was refused without a row of the audit, to be counted once he is told.
    var counted: RefusalTally.Counted?
  }

  /// A commit and its sync cost the processor as much as two decisions: where somebody waits already when a group is done,
  /// the next one begins so long after it, with those that come meanwhile. Who asks alone never waits for it.
  private static var gathering: Duration { .milliseconds(1) }

  func gather(behind began: MonotonicTime) {
    let rest = Self.gathering - (clock.monotonic() - began)
    if rest > .zero, inbox.withLock({ inbox, _ in inbox.mayGather }) { Thread.pause(rest) }
  }

  func serve(_ requests: [Registry.Request]) {
    var group = requests
    if outage != nil {
      let urgent = group.filter { $0.call.urgency == .revocation }
      refuse(group.filter { $0.call.urgency != .revocation })
      // There may be room for these, and for nothing else.
      guard outage?.isOpen == true else { return hold(urgent) }
      group = urgent
    }
    guard !group.isEmpty else { return }
    var results: [Result] = []
    do throws(CallFailure) {
      try durably { () throws(CallFailure) in
        for request in group {
          Thread.preemptionPoint()
          results.append(try serve(request))
        }
        for effect in results.flatMap(\.effects) where effect.isUrgent { listener.hear(effect) }
        return group.contains { $0.call.tellsTime }
      }
    } catch {
      doubtful.formUnion(results.flatMap(\.effects).compactMap(\.gone))
      refuse(group.filter { $0.call.urgency != .revocation })
      fail(error.ofStore, with: group.filter { $0.call.urgency == .revocation })
      return
    }
    for result in results {
      Thread.preemptionPoint()
      tell(result)
    }
  }

  /// Runs a request in a savepoint of the open group.
  func serve(_ request: Registry.Request) throws(CallFailure) -> Result {
    var transaction = transaction(
      for: request.origin, wait: isDraining ? nil : request.wait, clientVersion: request.clientVersion)
    try store.enter()
    do throws(CallFailure) {
      let outcome = try request.call.run(&transaction)
      try store.keep()
      var counted: RefusalTally.Counted?
      if case .reply(.refused(let refusal)) = outcome { counted = try note(refusal, &transaction) }
      return Result(
        request: request, outcome: outcome, effects: transaction.effects, reminder: transaction.reminder,
        bearer: transaction.bearer, counted: counted)
    } catch {
      switch error {
      case .refused(let refusal):
        try store.undo()
        var after = self.transaction(for: request.origin)
        for party in transaction.known { after.know(party) }
        let counted = try note(refusal, &after)
        return Result(
          request: request, outcome: .reply(.refused(refusal)), effects: [], reminder: nil,
          bearer: transaction.bearer, counted: counted)
      case .store(.constraint):
        try store.undo()
        let refusal = RegistryRefusal(.internalError, "registry_constraint")
        return Result(request: request, outcome: .reply(.refused(refusal)), effects: [], reminder: nil)
      case .store: throw error
      }
    }
  }

  func transaction(for origin: Origin, wait: Duration? = nil, clientVersion: String? = nil) -> Transaction {
    Transaction(
      store: store, now: time.now(), entropy: entropy, settings: settings, server: server,
      verifier: verifier, tokens: tokens, devices: devices, origin: origin, wait: wait,
      clientVersion: clientVersion)
  }

  /// A refused decision is on record: in a row of its own for those who are known and are not refused all the time, counted
  /// for others.
  /// - Returns: what is to be counted when the group is kept: one that is not tells nobody of it, and may be served again.
  private func note(
    _ refusal: RegistryRefusal, _ transaction: inout Transaction
  ) throws(CallFailure) -> RefusalTally.Counted? {
    guard refusal.code.isDecision, !transaction.hasRecorded else { return nil }
    let counted = devices.refusals.judge(refusal.code, to: transaction.known.first, at: transaction.now)
    guard counted == nil else { return counted }
    try transaction.record(.refused, .code(refusal.code), .step(refusal.step))
    return nil
  }

  /// Runs a group: all of it is durable afterwards, or nothing of it has happened.
  /// - Parameter body: says whether somebody is promised what time it is, by an answer or a row of the audit.
  func durably(_ body: () throws(CallFailure) -> Bool) throws(CallFailure) {
    do throws(CallFailure) {
      try store.begin()
      let time = try body() ? try storeTime() : nil
      try store.commit()
      if let time { storedTime = time }
    } catch {
      store.abandon()
      throw error
    }
    // What cannot be counted is not worth a failure: the next group will tell.
    if let numbers = try? store.numbers() { published.publish(numbers) }
  }

  /// The store's time is behind by less than a second, which a start adds.
  /// - Returns: what the store has once the group is durable; nil where it stays as it is.
  private func storeTime() throws(CallFailure) -> UnixTime? {
    let now = time.now()
    guard now.milliseconds - storedTime.milliseconds >= Self.timeStep else { return nil }
    try store.setValue(StoreValue.time, now.bytes)
    return now
  }

  // MARK: What is told

  func tell(_ result: Result) {
    if let reminder = result.reminder { dueAt = min(dueAt, reminder) }
    if let counted = result.counted { devices.refusals.note(counted, at: time.now()) }
    noteRevocation(result)
    // Whoever has its answer may rely on it at once: by then the door knows, too.
    tell(result.effects)
    var request = result.request
    if let device = result.bearer, let bearer = request.bearer.take() { bearer(device) }
    switch result.outcome {
    case .reply(let reply): request.completion(reply)
    case .wait(let topic, let party, let otherwise):
      // A second wait is not longer for the first.
      let until = request.waitsUntil ?? clock.monotonic() + (request.wait ?? .zero)
      request.waitsUntil = until
      if !waiters.add(request, on: topic, by: party, until: until, otherwise: otherwise) {
        request.completion(otherwise)
      }
    case .goOn(let call):
      request.call = call
      ready.append(request)
    case .erased(let reply): hold(reply, for: request)
    case .copy(let name): beginCopying(named: name, for: request)
    }
  }

  /// Before its effects are told: what holds from now on is what it says itself.
  func noteRevocation(_ result: Result) {
    guard result.request.call.urgency == .revocation else { return }
    switch result.outcome {
    case .reply, .erased: revocations.settle(result.request.handle)
    case .goOn: revocations.note(result.effects, of: result.request.handle)
    case .wait, .copy: break
    }
  }

  func tell(_ effects: [RegistryEffect]) {
    for effect in effects {
      devices.presence.hear(effect)
      switch effect {
      case .wake(let topic): ready += waiters.wake(topic)
      case .wakeAll: ready += waiters.wakeAll()
      case .erased: noteErasure()
      default: if !effect.isUrgent { hear(effect) }
      }
    }
  }

  /// What was ordered meanwhile holds: neither the device nor its App Attest key comes back for what was true before. Looked
  /// at after the word, as the order may come between.
  func hear(_ effect: RegistryEffect) {
    listener.hear(effect)
    guard let (device, subject) = effect.standing, revocations.end(device, of: subject) else { return }
    listener.hear(.deviceRevoked(device))
  }

  func refuse(_ requests: [Registry.Request]) {
    for request in requests {
      request.completion(.refused(RegistryRefusal(.storeUnavailable, "registry_store")))
    }
  }
}

extension RegistryEffect {
  /// The device that is said to be gone.
  var gone: DeviceID? {
    switch self {
    case .deviceGone(let device), .deviceRevoked(let device): device
    default: nil
    }
  }

  /// Of which device it says what comes in, and whose that is.
  fileprivate var standing: (DeviceID, Subject?)? {
    switch self {
    case .deviceActive(let device), .deviceWaits(let device): (device.id, device.subject)
    case .formerKey(_, let device, let subject): (device, subject)
    default: nil
    }
  }
}
