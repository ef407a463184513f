/// The slow thread: searches, changes and the pieces of a download, one at a time.
internal import System

/// What it is asked for, and who waits.
enum AdminJob: Sendable {
  case work(UInt64, AdminRequest)
  /// The next piece; there is one download at a time.
  case piece(UInt64, any AdminBody)
  /// Nobody wants the rest: whatever a download holds is let go of here, where it may take its time.
  case release(any AdminBody)
}

/// What comes back to the fast thread.
enum AdminLetter: Sendable {
  case answer(UInt64, AdminAnswer)
  /// Nil after the last one.
  case piece(UInt64, [UInt8]?)
}

final class AdminWorker: Sendable {
  /// So many requests wait; the next one is told to try again.
  static let longestQueue = 8

  private struct Queue {
    var jobs: [AdminJob] = []
    var requests = 0
    var isStopping = false
  }

  private let queue = Monitor(Queue())
  private let handler: any AdminHandler
  private let holds: @Sendable (AdminActor) -> Bool

  /// - Parameter holds: whether somebody still may what he was let in for.
  init(_ handler: any AdminHandler, holds: @escaping @Sendable (AdminActor) -> Bool) {
    self.handler = handler
    self.holds = holds
  }

  /// False when too many wait already.
  func take(_ request: AdminRequest, from token: UInt64) -> Bool {
    queue.withLock { queue, wake in
      guard queue.requests < Self.longestQueue else { return false }
      queue.requests += 1
      queue.jobs.append(.work(token, request))
      wake.one()
      return true
    }
  }

  /// Before the requests that wait: a download holds what others may wait for.
  func take(_ job: AdminJob) {
    queue.withLock { queue, wake in
      queue.jobs.insert(job, at: 0)
      wake.one()
    }
  }

  /// What is being done is done, and no more.
  func stop() {
    queue.withLock { queue, wake in
      queue.isStopping = true
      wake.all()
    }
  }

  func run(_ post: (AdminLetter) -> Void) {
    while let job = next() {
      switch job {
      case .work(let token, let request): post(.answer(token, work(request)))
      case .piece(let token, let body): post(.piece(token, body.next()))
      case .release: break
      }
    }
  }

  /// What was revoked while it waited does nothing any more.
  private func work(_ request: AdminRequest) -> AdminAnswer {
    guard holds(request.actor) else {
      return .page(.forbidden, Array("<!doctype html><title>Revoked</title><p>This was revoked.\n".utf8))
    }
    return handler.work(request)
  }

  private func next() -> AdminJob? {
    queue.wait { queue in
      if queue.isStopping { return .done(nil) }
      guard !queue.jobs.isEmpty else { return .wait }
      let job = queue.jobs.removeFirst()
      if case .work = job { queue.requests -= 1 }
      return .done(job)
    }
  }
}
