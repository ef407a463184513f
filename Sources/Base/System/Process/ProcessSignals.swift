/// Signals to the process, read in order by one thread instead of interrupting any (signalfd(2)).
internal import CLinux
internal import Glibc

package struct ProcessSignals: ~Copyable {
  package enum Kind: Equatable, Sendable {
    case terminate
    case interrupt
    case hangup
  }

  private let descriptor: Int32
  /// That made it, and reads.
  private let reader = pthread_self()

  /// To be made before other threads start: they inherit that the signals are blocked. Stray signals are ignored from here on.
  package init() throws(SystemError) {
    StraySignals.ignore()
    let wanted = [SIGTERM, SIGINT, SIGHUP]
    let descriptor = unsafe wanted.withUnsafeBufferPointer { buffer in
      unsafe portcullis_signalfd(buffer.baseAddress, Int32(buffer.count))
    }
    guard descriptor >= 0 else { throw SystemError("signalfd") }
    self.descriptor = descriptor
  }

  /// For other threads of this process: the reader is told as by SIGHUP.
  package var hangUp: @Sendable () -> Void {
    let reader = reader
    return { _ = pthread_kill(reader, SIGHUP) }
  }

  deinit {
    _ = close(descriptor)
  }

  /// The next signal, or nil when none came within `milliseconds` (-1: waits for ever).
  package borrowing func next(milliseconds: Int32) -> Kind? {
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&ready, 1, milliseconds) > 0 else { return nil }
    let number = portcullis_read_signal(descriptor)
    switch number {
    case SIGTERM: return .terminate
    case SIGINT: return .interrupt
    case SIGHUP: return .hangup
    default: return nil
    }
  }
}
