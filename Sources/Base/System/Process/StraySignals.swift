/// Signals that end a process by default and are no order to this program (signal(7)).
internal import Glibc

package enum StraySignals {
  /// SIGPIPE and SIGXFSZ come with a call that fails anyway, with EPIPE and EFBIG: what such an error means is for the
  /// caller to say. The others are habits of other programs (SIGUSR1 for "reopen the log"), and timers that nobody here sets.
  ///
  /// Not among them: SIGQUIT, by which an operator asks for a core, and SIGXCPU, since a limit of processor time is there to
  /// end a process.
  package static let all = [
    SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT,
  ]

  /// From here on they do nothing; programs that this one starts have them as ever (`ChildProcess`).
  /// - Parameter wanted: orders to this process.
  package static func ignore(except wanted: [Int32] = []) {
    for number in all where !wanted.contains(number) { _ = signal(number, SIG_IGN) }
  }

  /// For a program that runs once: a file that may not grow fails the write, which says so. SIGPIPE may end it quietly.
  package static func ignoreFileLimit() { _ = signal(SIGXFSZ, SIG_IGN) }
}
