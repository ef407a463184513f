/// How the gate gives way to its next process, which goes on with what is kept, and how nothing is kept any more
/// (docs/restarts.md, "What a restart keeps"); from any thread but a loop's.
internal import Keeping
internal import Registry
internal import Scheduling
internal import Synchronization
internal import System
internal import Telemetry
internal import Time
internal import Upstream

extension Gate {
  /// Whether sessions go on in a next process.
  package var keepsSessions: Bool { shared.storeClient != nil }

  /// Nobody is accepted from now on, who comes waits for the next process. Sessions lose their connections, spread over a
  /// while; those that are kept are told to come back, the others end.
  package func beginRestart(timeout: Duration) {
    if shared.isEnding.load(ordering: .relaxed) { return beginDrain(timeout: timeout) }
    if shared.isRestarting.exchange(true, ordering: .relaxed) { return }
    shared.isStopping.store(true, ordering: .sequentiallyConsistent)
    shared.postToAll(.restart(spread: min(.seconds(1), timeout / 3)))
    shared.devices?.registry.drain()
  }

  /// What came of ending all sessions.
  package enum Ending: Equatable, Sendable {
    case done(ended: Int)
    /// So many had not ended within the time.
    case sessionsLeft(Int)
    /// The process that keeps descriptors for the gate does not say that it has released all.
    case storeSilent
  }

  /// Ends all sessions for good, those too that would go on in a next process, and returns when nothing is kept any more.
  /// Nobody is let in from then on.
  package func endAll(within time: Duration) -> Ending {
    let deadline = SystemClock().monotonic() + time
    let ended = shared.sessions.value + shared.away.value
    shared.isEnding.store(true, ordering: .relaxed)
    beginDrain(timeout: time)
    let pause = Signal()
    while !isDrained {
      if SystemClock().monotonic() >= deadline {
        return .sessionsLeft(shared.sessions.value + shared.away.value)
      }
      pause.wait(until: SystemClock().monotonic() + Self.look)
    }
    guard let storeClient = shared.storeClient else { return .done(ended: ended) }
    let left = max(deadline - SystemClock().monotonic(), .milliseconds(100))
    guard storeClient.isEmpty(within: left), storeClient.forgetAll(named: listeners) else {
      return .storeSilent
    }
    return .done(ended: ended)
  }

  private static let look: Duration = .milliseconds(20)
}

extension Shared {
  /// The gate does not start: what is kept is left for one that does.
  func abandonStart() {
    if let storeClient {
      storeClient.handOver()
      postToAll(.restart(spread: .zero))
      postToAll(.abandon)
    } else {
      postToAll(.stop)
    }
  }
}

extension DescriptorStoreClient {
  /// All loops have ended: what was left to be told is told, and this was no start that died.
  func finish() {
    stop()
    slots.endStart()
    if isHandingOver { log.sessionsHandedOver(handedOver.value) }
  }

  /// Nothing of the gate is in the store any more; false when it does not say so in time.
  func forgetAll(named names: [StoredName]) -> Bool {
    do throws(SystemError) {
      for name in names + [.slots, .over] { try store.remove(name) }
    } catch {
      return false
    }
    return store.settle(within: .seconds(5))
  }
}
