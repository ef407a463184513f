/// What was deleted leaves the store's log as well: until then the log has the pages as they were (docs/devices.md, "The store").
internal import System

extension RegistryWorker {
  /// Deleted rows whose bytes are still in the log.
  struct Erasure {
    /// When the log is emptied at the latest.
    var due: UnixTime
    /// Who is answered then.
    var waiting: [(request: Registry.Request, reply: Reply)] = []
  }

  /// Upkeep deletes piece by piece, and the log is emptied once for all of them.
  private static let collecting: Duration = .seconds(1)
  /// After a failure; whoever deletes something meanwhile has it tried at once.
  private static let again: Duration = .seconds(30)

  func noteErasure() {
    guard erasure == nil else { return }
    erasure = Erasure(due: time.now().adding(Self.collecting))
  }

  /// The request is answered when the log is empty.
  func hold(_ reply: Reply, for request: Registry.Request) {
    let now = time.now()
    var erasure = self.erasure ?? Erasure(due: now)
    erasure.due = min(erasure.due, now)
    erasure.waiting.append((request, reply))
    self.erasure = erasure
  }

  /// Nothing comes after. A store that closes in order has no log.
  func eraseAtLast() {
    erasure?.due = time.now()
    eraseIfDue()
    refuse((erasure?.waiting ?? []).map(\.request))
    erasure = nil
  }

  /// Between two groups. Where it fails, the store is opened anew, and it is tried again then.
  func eraseIfDue() {
    guard let erasure, trouble == nil, erasure.due <= time.now() else { return }
    do throws(StoreFailure) {
      try store.emptyLog()
      self.erasure = nil
      for (request, reply) in erasure.waiting { request.completion(reply) }
    } catch {
      self.erasure = Erasure(due: time.now().adding(Self.again))
      refuse(erasure.waiting.map(\.request))
      fail(error, with: [])
    }
  }
}
