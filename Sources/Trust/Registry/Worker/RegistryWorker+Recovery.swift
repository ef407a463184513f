/// After a failure of the store nothing is promised until the file was closed, opened anew and looked over, and what was
/// revoked meanwhile is written.
internal import DeviceWire
internal import PortcullisProtocol
internal import Time

extension RegistryWorker {
  /// The store has failed.
  struct Outage {
    /// The disk is full, and the store can be written to with what was kept in reserve.
    var isOpen: Bool
    var nextTry: MonotonicTime
    var pause: Duration
  }

  /// One that is over: another soon after it is the same.
  struct PastOutage {
    let end: MonotonicTime
    let pause: Duration
  }

  private static let memory: Duration = .seconds(30)
  private static let firstPause: Duration = .milliseconds(500)
  private static let longestPause: Duration = .seconds(30)

  /// A group was not kept.
  func fail(_ failure: StoreFailure, with revocations: [Registry.Request]) {
    var isNew = true
    if outage == nil {
      listener.note(.unavailable(failure.description))
      let past = pastOutage.flatMap { clock.monotonic() - $0.end < Self.memory ? $0 : nil }
      isNew = past == nil
      outage = Outage(isOpen: false, nextTry: clock.monotonic(), pause: past?.pause ?? Self.firstPause)
    }
    outage?.isOpen = false
    giveUpCopy()
    postpone(revocations)
    // A disk that failed once may be good again, and what was revoked is to be written. One that has just failed before
    // is full, or worn: to look the whole file over for each request would be dear.
    if isNew || !unwritten.isEmpty { recover(from: failure) } else { tryLater() }
  }

  /// They hold from now on, are tried again until they are written, and whoever asked is told so.
  func postpone(_ requests: [Registry.Request]) {
    // Who of those that wait was revoked is not known without the store: each asks again.
    if !requests.isEmpty { refuse(waiters.end().map(\.0)) }
    for request in requests {
      for effect in request.call.immediate { listener.hear(effect) }
      refuse([request])
      // Ordered again and again while the disk fails, it is kept once.
      let name = request.call.revokes
      if !name.isEmpty, unwritten.contains(where: { $0.call.revokes == name }) {
        revocations.settle(request.handle)
      } else {
        revocations.add(request.handle, request.call)
        unwritten.append(request.unheard(request.call))
      }
    }
  }

  /// While the store is closed. Whom one ends may stand there alone, and it is not waited for.
  func hold(_ requests: [Registry.Request]) {
    let before = unwritten.count
    postpone(requests)
    if unwritten[before...].contains(where: \.call.isToLookUp) { recover(from: nil) }
  }

  func recoverIfDue() {
    guard let outage, outage.nextTry <= clock.monotonic() else { return }
    recover(from: nil)
  }

  private func recover(from failure: StoreFailure?) {
    do throws(CallFailure) {
      if outage?.isOpen != true {
        try store.reopen()
        try tokens.reload(from: store, at: time.now())
      }
      try lookUpRevocations()
      try writeRevocations()
      // As long as there is no room for the reserve, there is none for others.
      guard store.keepReserve() else {
        outage?.isOpen = true
        return tryLater()
      }
      try announceDoubtful()
      pastOutage = outage.map { PastOutage(end: clock.monotonic(), pause: $0.pause) }
      outage = nil
      // What was due meanwhile, or failed with it.
      dueAt = time.now()
      listener.note(.available)
    } catch {
      outage?.isOpen = false
      let error = error.ofStore
      if case .full = error, !unwritten.isEmpty, store.giveUpReserve() { return recover(from: error) }
      tryLater()
    }
  }

  private func tryLater() {
    guard let pause = outage?.pause else { return }
    outage?.nextTry = clock.monotonic() + pause
    outage?.pause = min(pause * 2, Self.longestPause)
  }

  /// Reads alone: who is on the list of a maker's certificates is out, whatever becomes of the rest.
  private func lookUpRevocations() throws(CallFailure) {
    for index in unwritten.indices where unwritten[index].call.isToLookUp {
      let call = try unwritten[index].call.lookingUp(store)
      unwritten[index].call = call
      revocations.add(unwritten[index].handle, call)
      for effect in call.immediate { listener.hear(effect) }
    }
  }

  private func writeRevocations() throws(CallFailure) {
    guard !unwritten.isEmpty else { return }
    var results: [Result] = []
    try durably { () throws(CallFailure) in
      for request in unwritten { results.append(try serve(request)) }
      return true
    }
    unwritten = []
    // Who asked was answered long ago, and heard is only what was known without the store.
    for result in results {
      for effect in result.effects where effect.isUrgent { listener.hear(effect) }
      noteRevocation(result)
      tell(result.effects)
      if case .goOn(let call) = result.outcome { ready.append(result.request.unheard(call)) }
    }
  }

  /// The process ends: what holds in memory alone is tried once more, with all that follows from it.
  func writeAtLast() {
    if outage != nil, !unwritten.isEmpty { recover(from: nil) }
    while !ready.isEmpty, unwritten.isEmpty {
      let group = ready
      ready = []
      serve(group)
    }
  }

  /// They were taken away from the door for something that did not come about.
  private func announceDoubtful() throws(CallFailure) {
    for id in doubtful {
      if let standing = try store.device(id)?.announced { hear(standing) }
    }
    doubtful = []
  }
}
