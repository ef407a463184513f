/// Which network a phone is on, as an app hears of it: at the beginning, and at each change.
public import Dispatch
internal import Foundation
internal import Synchronization

@available(iOS 12.0, *)
final public class NWPathMonitor {
  private let watcher = PathWatcher()

  public init() {}

  /// Who lets go of a monitor hears nothing more.
  deinit { watcher.end() }

  final public var pathUpdateHandler: (@Sendable (_ newPath: NWPath) -> Void)? {
    get { watcher.handler }
    set { watcher.handler = newValue }
  }

  final public func start(queue: DispatchQueue) { watcher.device[FakePaths.self].add(watcher, queue) }

  final public func cancel() { watcher.end() }
}

@available(iOS 12.0, *)
public struct NWPath: Equatable, Sendable {
  public enum Status: Sendable {
    case satisfied
    case unsatisfied
    case requiresConnection
  }

  public let status: NWPath.Status
  private let interface: String

  /// - Parameter interface: what tells one path from another.
  package init(_ status: NWPath.Status, _ interface: String = "en0") {
    self.status = status
    self.interface = interface
  }

  public static func == (lhs: NWPath, rhs: NWPath) -> Bool {
    lhs.status == rhs.status && lhs.interface == rhs.interface
  }
}

/// A monitor's part that its queue may hold.
final class PathWatcher: Sendable {
  private struct State {
    var handler: (@Sendable (NWPath) -> Void)?
    var queue: DispatchQueue?
    var isOver = false
  }

  let device = AppleDevice.current
  private let state = Mutex(State())

  var handler: (@Sendable (NWPath) -> Void)? {
    get { state.withLock(\.handler) }
    set { state.withLock { state in state.handler = newValue } }
  }

  var isOver: Bool { state.withLock(\.isOver) }

  func begin(_ queue: DispatchQueue) { state.withLock { state in state.queue = queue } }

  func end() {
    // Let go outside of the lock: it may hold the monitor.
    _ = state.withLock { state -> (@Sendable (NWPath) -> Void)? in
      state.isOver = true
      return state.handler
    }
  }

  func tell(_ path: NWPath) {
    state.withLock(\.queue)?.async { [self] in
      let handler = state.withLock { state in state.isOver ? nil : state.handler }
      if let handler { device.call { handler(path) } }
    }
  }
}

/// The paths of a phone, which a test changes.
package final class FakePaths: DevicePart {
  private struct State {
    var path = NWPath(.satisfied)
    var watchers: [PathWatcher] = []
  }

  private let state = Mutex(State())

  package init() {}

  package func change(to path: NWPath) {
    let watchers = state.withLock { state in
      state.path = path
      state.watchers.removeAll(where: \.isOver)
      return state.watchers
    }
    for watcher in watchers { watcher.tell(path) }
  }

  /// How many monitors run.
  package var monitors: Int { state.withLock { state in state.watchers.count { !$0.isOver } } }

  func add(_ watcher: PathWatcher, _ queue: DispatchQueue) {
    watcher.begin(queue)
    let path = state.withLock { state in
      state.watchers.append(watcher)
      return state.path
    }
    watcher.tell(path)
  }
}
