/// Knows what waits for an operator, so that each page can say so without waiting for the registry.
import DeviceWire
import Registry
import Synchronization
import Time

/// Asked by a thread that is not behind the loops (`GateChecks`), once a second; the registry's own thread brings the answer.
final class WaitingWatch: Sendable {
  private struct State {
    var waiting = Waiting()
    /// A question is out, and none is asked until it is back.
    var isAsking = false
  }

  private let registry: Registry
  private let state = Mutex(State())

  init(_ registry: Registry) {
    self.registry = registry
  }

  /// As it was some two seconds ago at most, less what has ended since.
  func current(at now: UnixTime) -> Waiting {
    var waiting = state.withLock { $0.waiting }
    waiting.requests.removeAll { $0.endsAt <= now }
    waiting.phones.removeAll { $0.endsAt <= now }
    return waiting
  }

  func look() {
    let isBusy = state.withLock { state in
      defer { state.isAsking = true }
      return state.isAsking
    }
    if isBusy { return }
    let handle = registry.submit(WaitingForOperators(), lane: .host, origin: .gate) { [self] reply in
      state.withLock { state in
        state.isAsking = false
        // What could not be asked just now is as it was.
        if case .value(let queue as OperatorsQueue) = reply { state.waiting = Waiting(queue) }
      }
    }
    if handle == nil { state.withLock { $0.isAsking = false } }
  }
}

extension Waiting {
  fileprivate init(_ queue: OperatorsQueue) {
    self.init(
      requests: queue.requests.map { request in
        Request(
          id: request.id.text, operation: request.operation ?? "", text: request.text,
          endsAt: request.expiresAt)
      },
      phones: queue.phones.map { phone in
        Phone(
          deviceID: phone.device?.text, name: phone.name?.text, subject: phone.subject?.name,
          endsAt: phone.expiresAt.wholeSecond)
      })
  }
}
