/// The registry's thread: takes requests in groups, runs them, and tells what came of them once the group is durable.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import PortcullisProtocol
internal import System

final class RegistryWorker {
  /// So many calls share one sync.
  private static let groupLimit = 64

  private let store: any RegistryStore
  private var settings: RegistrySettings
  private let clock: any Clock
  private var time: RegistryClock
  private let entropy: any Entropy
  private let listener: any RegistryListener
  private let inbox: Monitor<Registry.Inbox>
  private let server: ServerID
  private let verifier = P256Verifier()
  private let tokens: TokenMint
  private let devices = DeviceMemory()
  private var waiters = Waiters()
  /// Taken back before they were served. Empty whenever the queue is.
  private var takenBack: Set<RequestHandle> = []
  private var isDraining = false

  init(
    _ store: any RegistryStore, settings: RegistrySettings, clock: any Clock, entropy: any Entropy,
    listener: any RegistryListener, inbox: Monitor<Registry.Inbox>
  ) throws(StoreFailure) {
    self.store = store
    self.settings = settings
    self.clock = clock
    self.entropy = entropy
    self.listener = listener
    self.inbox = inbox
    time = RegistryClock(clock)
    server = try Self.server(of: store, entropy)
    tokens = try TokenMint(store, at: time.now(), verifier)
  }

  /// Made once, with the store.
  private static func server(
    of store: any RegistryStore, _ entropy: any Entropy
  ) throws(StoreFailure) -> ServerID {
    if let bytes = try store.value(StoreValue.server), let server = ServerID(bytes) { return server }
    let server = ServerID(random: entropy)
    try store.setValue(StoreValue.server, server.bytes)
    return server
  }

  func run() {
    while let work = next() {
      if let settings = work.settings { self.settings = settings }
      for handle in work.cancelled where !waiters.cancel(handle) { takenBack.insert(handle) }
      isDraining = work.isDraining
      serve(work.group.filter { takenBack.remove($0.handle) == nil })
      if work.isLast { takenBack = [] }
      let ended = isDraining ? waiters.end() : waiters.expire(at: clock.monotonic())
      for (request, reply) in ended { request.completion(reply) }
    }
    store.close()
  }

  /// Where nothing was ever served.
  func close() { store.close() }

  // MARK: What is to be done

  private struct Work {
    var group: [Registry.Request]
    var cancelled: [RequestHandle]
    var settings: RegistrySettings?
    var isDraining: Bool
    /// The queue is empty behind the group.
    var isLast = true
  }

  /// Nil when the registry is to stop and nothing is left to do.
  private func next() -> Work? {
    let isDraining = isDraining
    let found = inbox.wait(until: waiters.nextDeadline) { inbox -> Waited<Work?> in
      var work = Work(
        group: [], cancelled: inbox.cancelled, settings: inbox.settings, isDraining: inbox.isDraining)
      while work.group.count < Self.groupLimit, let request = inbox.queue.next() {
        work.group.append(request)
      }
      work.isLast = inbox.queue.isEmpty
      inbox.cancelled = []
      inbox.settings = nil
      let isNews = !work.group.isEmpty || !work.cancelled.isEmpty || work.settings != nil
      if isNews || work.isDraining != isDraining { return .done(work) }
      return inbox.isStopping ? .done(nil) : .wait
    }
    guard let found else { return Work(group: [], cancelled: [], settings: nil, isDraining: isDraining) }
    return found
  }

  // MARK: A group

  /// What a request has come to, to be told when the group is durable.
  private struct Result {
    let request: Registry.Request
    let outcome: Outcome
    let effects: [RegistryEffect]
  }

  private func serve(_ group: [Registry.Request]) {
    guard !group.isEmpty else { return }
    var results: [Result] = []
    do throws(StoreFailure) {
      try store.begin()
      for request in group { results.append(try serve(request)) }
      for effect in results.flatMap(\.effects) where effect.isUrgent { listener.hear(effect) }
      try store.commit()
    } catch {
      store.abandon()
      for request in group {
        request.completion(.refused(RegistryRefusal(.storeUnavailable, "registry_store")))
      }
      return
    }
    for result in results { tell(result) }
  }

  private func serve(_ request: Registry.Request) throws(StoreFailure) -> Result {
    var desk = Desk(
      store: store, now: time.now(), entropy: entropy, settings: settings, server: server,
      verifier: verifier, tokens: tokens, devices: devices, origin: request.origin,
      wait: isDraining ? nil : request.wait)
    try store.enter()
    do throws(CallFailure) {
      let outcome = try request.call.run(&desk)
      try store.keepCall()
      return Result(request: request, outcome: outcome, effects: desk.effects)
    } catch {
      switch error {
      case .refused(let refusal):
        try store.undo()
        return Result(request: request, outcome: .reply(.refused(refusal)), effects: [])
      case .store(.constraint):
        try store.undo()
        let refusal = RegistryRefusal(.internalError, "registry_constraint")
        return Result(request: request, outcome: .reply(.refused(refusal)), effects: [])
      case .store(let failure): throw failure
      }
    }
  }

  private func tell(_ result: Result) {
    switch result.outcome {
    case .reply(let reply): result.request.completion(reply)
    case .wait(let topic, let party, let otherwise):
      var request = result.request
      // A second wait is not longer for the first.
      let until = request.waitsUntil ?? clock.monotonic() + (request.wait ?? .zero)
      request.waitsUntil = until
      if !waiters.add(request, on: topic, by: party, until: until, otherwise: otherwise) {
        request.completion(otherwise)
      }
    }
    for effect in result.effects {
      if case .wake(let topic) = effect {
        serve(waiters.wake(topic))
      } else if !effect.isUrgent {
        listener.hear(effect)
      }
    }
  }
}

extension RegistryStore {
  fileprivate func keepCall() throws(CallFailure) {
    do throws(StoreFailure) { try keep() } catch { throw .store(error) }
  }
}

/// The names of what the registry keeps of itself.
enum StoreValue {
  static let server = "server_id"
  /// The highest time that was promised.
  static let time = "time"
}
