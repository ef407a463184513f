/// A session: its delegate, whom it keeps until it is invalidated and its tasks have ended, and their queue.
internal import Synchronization

@available(iOS 7.0, *)
open class URLSessionConfiguration: NSObject, @unchecked Sendable {
  open class var ephemeral: URLSessionConfiguration { URLSessionConfiguration() }
  /// Seconds for a whole task: a week.
  open var timeoutIntervalForResource: Double = 604_800
  open var urlCache: URLCache?
}

@available(iOS 7.0, *)
open class URLSession: NSObject, @unchecked Sendable {
  private struct Life {
    var delegate: (any URLSessionDelegate)?
    var tasks: [URLSessionTask] = []
    var isInvalid = false
  }

  /// How long a whole task may take, in seconds.
  package let patience: Double
  package let device: AppleDevice
  /// Where the delegate is called, one call after the other.
  private let queue = DispatchQueue(label: "URLSession")
  private let life: Mutex<Life>

  public init(
    configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?,
    delegateQueue: OperationQueue?
  ) {
    precondition(delegateQueue == nil, "the fake has only its own queue")
    patience = configuration.timeoutIntervalForResource
    device = .current
    life = Mutex(Life(delegate: delegate))
    super.init()
    device[FakeNetwork.self].note(self)
  }

  @available(iOS 13.0, *)
  open func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
    let task = URLSessionWebSocketTask(request, in: self)
    add(task)
    return task
  }

  @available(iOS 7.0, *)
  open func finishTasksAndInvalidate() {
    life.withLock { life in life.isInvalid = true }
    releaseIfOver()
  }

  @available(iOS 7.0, *)
  open func invalidateAndCancel() {
    let tasks = life.withLock { life in
      life.isInvalid = true
      return life.tasks
    }
    for task in tasks { task.cancel() }
    releaseIfOver()
  }

  @available(iOS 7.0, *)
  public enum AuthChallengeDisposition: Int, Sendable {
    case useCredential = 0
    case performDefaultHandling = 1
    case cancelAuthenticationChallenge = 2
    case rejectProtectionSpace = 3
  }

  // MARK: For its tasks

  /// What is for the delegate, after what was before it.
  func call(_ body: @escaping @Sendable () -> Void) {
    queue.async { [device] in device.call(body) }
  }

  package var delegate: (any URLSessionDelegate)? { life.withLock(\.delegate) }

  func add(_ task: URLSessionTask) {
    let isInvalid = life.withLock { life in
      if !life.isInvalid { life.tasks.append(task) }
      return life.isInvalid
    }
    // An exception of Objective-C, which ends the app.
    if isInvalid { fatalError("Task created in a session that has been invalidated") }
  }

  /// Its delegate has heard all of it.
  func remove(_ task: URLSessionTask) {
    life.withLock { life in life.tasks.removeAll { $0 === task } }
    releaseIfOver()
  }

  private func releaseIfOver() {
    // Let go outside of the lock: it may be the last who holds it.
    let (isOver, delegate) = life.withLock { life -> (Bool, (any URLSessionDelegate)?) in
      guard life.isInvalid, life.tasks.isEmpty else { return (false, nil) }
      defer { life.delegate = nil }
      return (true, life.delegate)
    }
    _ = delegate
    if isOver { device[FakeNetwork.self].forget(self) }
  }
}
