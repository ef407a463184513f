/// Waiting for one socket on a thread of its own: poll(2), with a deadline and a bell that ends the wait.
internal import CLinux
internal import Glibc
package import System
package import Time

/// Ends the waits of all threads that share it; once rung it stays rung.
package final class StopBell: Sendable {
  private let wakeUp: WakeUp

  package init() throws(SystemError) {
    wakeUp = try WakeUp()
  }

  package func ring() { wakeUp.signal() }

  /// Returns when rung, which is true, or after `duration`.
  package func wait(_ duration: Duration) -> Bool {
    Readiness.wait(for: -1, 0, until: SystemClock().monotonic() + duration, bell: self) == .rung
  }

  fileprivate var descriptor: Int32 { wakeUp.descriptor }
}

/// What a wait ended with.
package enum Readiness: Equatable, Sendable {
  case ready
  case timedOut
  case rung

  /// - Parameter deadline: of the system's monotonic clock; nil waits for ever.
  static func wait(for descriptor: Int32, _ events: Int32, until deadline: MonotonicTime?, bell: StopBell?)
    -> Readiness
  {
    // poll(2) passes over negative descriptors.
    var watched = [
      pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: events), revents: 0),
      pollfd(fd: bell?.descriptor ?? -1, events: Int16(truncatingIfNeeded: POLLIN), revents: 0),
    ]
    while true {
      var milliseconds: Int32 = -1
      if let deadline {
        let left = deadline - SystemClock().monotonic()
        if left == .zero { return .timedOut }
        milliseconds = Int32(clamping: left.wholeMilliseconds + 1)
      }
      let count = unsafe watched.withUnsafeMutableBufferPointer { buffer in
        unsafe poll(buffer.baseAddress, nfds_t(buffer.count), milliseconds)
      }
      if count < 0, errno == EINTR { continue }
      if watched[1].revents != 0 { return .rung }
      // A failure of poll itself shows in the call that follows.
      if count < 0 || watched[0].revents != 0 { return .ready }
    }
  }
}

extension Socket {
  package enum Interest: Sendable {
    case reading
    case writing
  }

  /// Waits until a call of that kind would not block, the peer has gone, the deadline is reached or the bell rings.
  package borrowing func wait(
    for interest: Interest, until deadline: MonotonicTime?, bell: StopBell? = nil
  ) -> Readiness {
    Readiness.wait(
      for: descriptor, Int32(interest == .reading ? POLLIN : POLLOUT), until: deadline, bell: bell)
  }
}
