/// epoll, edge-triggered: each descriptor is registered once, and each event carries the token it was given.
internal import CLinux
internal import Glibc
package import System

/// What became true of a descriptor, with the token of its registration.
package struct ReadyEvent: Sendable {
  package let token: UInt64
  package let isReadable: Bool
  package let isWritable: Bool
  /// The peer has finished sending, or the connection is gone: read until the end, a short read proves nothing.
  package let hasHangup: Bool

  fileprivate init(_ event: portcullis_event) {
    token = event.token
    isReadable = event.events & (readableFlag | hangupFlag | errorFlag) != 0
    isWritable = event.events & (writableFlag | hangupFlag | errorFlag) != 0
    hasHangup = event.events & (hangupFlag | readHangupFlag | errorFlag) != 0
  }
}

/// Its calls borrow it, so that a loop can hold it as a constant, which costs no check at each use.
@safe package struct Poller: ~Copyable {
  private let epoll: Socket
  /// What the last `wait` found; the kernel writes it, nobody else.
  private let events: UnsafeMutableBufferPointer<portcullis_event>

  /// - Parameter capacity: events taken in one turn, at most 256.
  package init(capacity: Int = 256) throws(SystemError) {
    let descriptor = portcullis_epoll_create()
    guard descriptor >= 0 else { throw SystemError("epoll_create1") }
    epoll = Socket(owning: descriptor)
    unsafe events = .allocate(capacity: min(capacity, 256))
    unsafe events.initialize(repeating: portcullis_event())
  }

  deinit {
    unsafe events.deallocate()
  }

  /// Reports reading, writing and hang-ups of `socket` at each change, until it is closed.
  package borrowing func add(_ socket: borrowing Socket, token: UInt64) throws(SystemError) {
    try add(socket.descriptor, events: readableFlag | writableFlag | readHangupFlag | edgeFlag, token: token)
  }

  /// Reports `socket` as long as it is readable (level-triggered): listeners and wake-ups.
  package borrowing func addReadable(_ socket: borrowing Socket, token: UInt64) throws(SystemError) {
    try add(socket.descriptor, events: readableFlag, token: token)
  }

  package borrowing func remove(_ socket: borrowing Socket) {
    _ = portcullis_epoll_remove(epoll.descriptor, socket.descriptor)
  }

  private borrowing func add(_ descriptor: Int32, events: UInt32, token: UInt64) throws(SystemError) {
    guard portcullis_epoll_add(epoll.descriptor, descriptor, events, token) == 0 else {
      throw SystemError("epoll_ctl")
    }
  }

  /// Waits for events for at most `milliseconds` (-1: without end) and returns how many came.
  package borrowing func wait(milliseconds: Int32) -> Int {
    let found = unsafe portcullis_epoll_wait(
      epoll.descriptor, events.baseAddress, Int32(events.count), milliseconds)
    return max(0, Int(found))
  }

  /// One of the events of the last `wait`, by an index below what that returned.
  package borrowing func event(_ index: Int) -> ReadyEvent {
    guard unsafe events.indices.contains(index) else { fatalError("Poller: no such event") }
    return unsafe ReadyEvent(events[index])
  }
}

/// Wakes a loop from another thread.
package struct WakeUp: ~Copyable, Sendable {
  let descriptor: Int32

  package init() throws(SystemError) {
    let descriptor = portcullis_eventfd()
    guard descriptor >= 0 else { throw SystemError("eventfd") }
    self.descriptor = descriptor
  }

  deinit {
    _ = close(descriptor)
  }

  package borrowing func register(with poller: borrowing Poller, token: UInt64) throws(SystemError) {
    try poller.add(descriptor, token: token)
  }

  package borrowing func signal() {
    var one: UInt64 = 1
    // A full counter already wakes; nothing else can fail.
    _ = unsafe write(descriptor, &one, 8)
  }

  package borrowing func clear() {
    var count: UInt64 = 0
    _ = unsafe read(descriptor, &count, 8)
  }
}

extension Poller {
  fileprivate borrowing func add(_ descriptor: Int32, token: UInt64) throws(SystemError) {
    try add(descriptor, events: readableFlag, token: token)
  }
}

private let readableFlag = UInt32(PORTCULLIS_READABLE)
private let writableFlag = UInt32(PORTCULLIS_WRITABLE)
private let errorFlag = UInt32(PORTCULLIS_ERROR)
private let hangupFlag = UInt32(PORTCULLIS_HANGUP)
private let readHangupFlag = UInt32(PORTCULLIS_READ_HANGUP)
private let edgeFlag: UInt32 = 1 << 31
