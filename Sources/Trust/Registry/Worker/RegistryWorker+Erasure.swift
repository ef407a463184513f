/// What was deleted leaves the store's files as well: its log, which has the pages as they were, and what no row uses within
/// the pages (docs/devices-operating.md, "The store").
internal import System
internal import Time

extension RegistryWorker {
  /// Deleted rows whose bytes are still in the log.
  struct Erasure {
    /// When the log is emptied at the latest.
    var due: UnixTime
    /// Who is answered when the pages are overwritten as well.
    var waiting: [Waiting] = []
  }

  /// A way through all pages, a piece at a time.
  struct Scrubbing {
    /// When the next piece is.
    var due: UnixTime
    /// The next page.
    var page = 0
    var waiting: [Waiting] = []
    /// More was deleted on the way: the same way once more, for these.
    var isWantedAgain = false
    var next: [Waiting] = []
  }

  typealias Waiting = (request: Registry.Request, reply: Reply)

  /// Upkeep deletes piece by piece, and the log is emptied once for all of them.
  private static let collecting: Duration = .seconds(1)
  /// After a failure; whoever deletes something meanwhile has it tried at once.
  private static let again: Duration = .seconds(30)
  /// From one way through the pages to the next, where nobody waits for it.
  private static let rest: Duration = .seconds(3600)

  func noteErasure() {
    guard erasure == nil else { return }
    erasure = Erasure(due: time.now().adding(Self.collecting))
  }

  /// The request is answered when no file of the store has what it deleted.
  func hold(_ reply: Reply, for request: Registry.Request) {
    let now = time.now()
    var erasure = self.erasure ?? Erasure(due: now)
    erasure.due = min(erasure.due, now)
    erasure.waiting.append((request, reply))
    self.erasure = erasure
  }

  /// Nothing comes after. A store that closes in order has no log, and its pages are overwritten after the next start.
  func eraseAtLast() {
    erasure?.due = time.now()
    eraseIfDue()
    while let scrubbing, !(scrubbing.waiting + scrubbing.next).isEmpty, outage == nil {
      scrubPiece(scrubbing)
    }
    refuse((erasure?.waiting ?? []).map(\.request))
    (erasure, scrubbing) = (nil, nil)
  }

  /// Between two groups. Where it fails, the store is opened anew, and it is tried again then.
  func eraseIfDue() {
    guard outage == nil else { return }
    if let erasure, erasure.due <= time.now() { emptyLog(erasure) }
    if outage == nil, let scrubbing, scrubbing.due <= time.now() { scrubPiece(scrubbing) }
  }

  private func emptyLog(_ due: Erasure) {
    do throws(StoreFailure) {
      try store.emptyLog()
    } catch {
      return failErasing(error)
    }
    erasure = nil
    if var way = scrubbing, way.page > 0 {
      way.isWantedAgain = true
      way.next += due.waiting
      if !way.next.isEmpty { way.due = time.now() }
      scrubbing = way
    } else {
      scrubbing = scrub(for: due.waiting + (scrubbing?.waiting ?? []))
    }
  }

  private func scrub(for waiting: [Waiting]) -> Scrubbing {
    let now = time.now()
    let rested = scrubbedAt?.adding(Self.rest) ?? now
    return Scrubbing(due: waiting.isEmpty ? max(now, rested) : now, waiting: waiting)
  }

  private func scrubPiece(_ scrubbing: Scrubbing) {
    var way = scrubbing
    let page: Int?
    do throws(StoreFailure) {
      page = try store.scrub(from: way.page)
    } catch {
      return failErasing(error)
    }
    if let page {
      way.page = page
      self.scrubbing = way
      return
    }
    scrubbedAt = time.now()
    self.scrubbing = way.isWantedAgain ? scrub(for: way.next) : nil
    for (request, reply) in way.waiting { request.completion(reply) }
  }

  private func failErasing(_ error: StoreFailure) {
    let waiting = (erasure?.waiting ?? []) + (scrubbing.map { $0.waiting + $0.next } ?? [])
    erasure = Erasure(due: time.now().adding(Self.again))
    scrubbing = nil
    refuse(waiting.map(\.request))
    fail(error, with: [])
  }
}
