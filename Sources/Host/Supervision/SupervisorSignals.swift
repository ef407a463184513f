/// The signals that a supervisor hears, in order, between its other work (signalfd(2)).
internal import CLinux
internal import Glibc
internal import System

struct SupervisorSignals: ~Copyable {
  enum Kind: Equatable {
    case order(SupervisionOrder)
    /// At least one.
    case childEnded
  }

  private let descriptor: OwnedDescriptor

  /// To be made before other threads start: they inherit that the signals are blocked. Stray signals are ignored from here on.
  init() throws(SystemError) {
    let wanted = [SIGTERM, SIGINT, SIGHUP, SIGUSR2, SIGCHLD]
    StraySignals.ignore(except: wanted)
    let number = unsafe wanted.withUnsafeBufferPointer { buffer in
      unsafe portcullis_signalfd(buffer.baseAddress, Int32(buffer.count))
    }
    guard number >= 0 else { throw SystemError("signalfd") }
    descriptor = OwnedDescriptor(owning: number)
  }

  /// To wait for with poll(2).
  var number: Int32 { descriptor.number }

  /// One that waits; nil when none does.
  func next() -> Kind? {
    switch portcullis_read_signal(descriptor.number) {
    case SIGTERM: .order(.terminate)
    case SIGINT: .order(.interrupt)
    case SIGHUP: .order(.reload)
    case SIGUSR2: .order(.restart)
    case SIGCHLD: .childEnded
    default: nil
    }
  }
}
