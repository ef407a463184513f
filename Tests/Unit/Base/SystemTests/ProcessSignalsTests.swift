import Glibc
import Testing

@testable import System

/// In processes of their own, because signals belong to a process.
@Suite struct ProcessSignalsTests {
  @Test func areReadInsteadOfInterrupting() async {
    await #expect(processExitsWith: .success) {
      let signals = try ProcessSignals()
      guard signals.next(milliseconds: 0) == nil else { exit(1) }
      // To this thread alone: the test runner's other threads were there before the signals were blocked.
      for (number, kind) in [
        (SIGTERM, ProcessSignals.Kind.terminate), (SIGINT, .interrupt), (SIGHUP, .hangup),
      ] {
        pthread_kill(pthread_self(), number)
        guard signals.next(milliseconds: 5000) == kind else { exit(2) }
      }
      guard signals.next(milliseconds: 0) == nil else { exit(3) }
      exit(0)
    }
  }

  /// Each would end the process; SIGXCPU and SIGQUIT still do.
  @Test func straySignalsEndNothing() async {
    await #expect(processExitsWith: .success) {
      Self.unblockAll()
      let signals = try ProcessSignals()
      for number in StraySignals.all { guard raise(number) == 0 else { exit(1) } }
      guard signals.next(milliseconds: 0) == nil else { exit(2) }
      exit(0)
    }
    await #expect(processExitsWith: .signal(SIGXCPU)) {
      Self.unblockAll()
      StraySignals.ignore()
      raise(SIGXCPU)
    }
  }

  /// Threads of libdispatch block most signals: what is raised there would wait, and end nothing.
  private static func unblockAll() {
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
  }

  @Test func aFileThatMayNotGrowIsAnError() async {
    await #expect(processExitsWith: .success) {
      StraySignals.ignoreFileLimit()
      var path = Array("/tmp/limited-XXXXXX".utf8CString)
      let file = unsafe mkstemp(&path)
      unsafe unlink(path)
      var limit = rlimit(rlim_cur: 1, rlim_max: 1)
      guard file >= 0, unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
        exit(1)
      }
      guard unsafe write(file, [1, 2], 1) == 1 else { exit(2) }
      let written = unsafe write(file, [1], 1)
      exit(written == -1 && errno == EFBIG ? 0 : 3)
    }
  }

  @Test func sigpipeIsIgnored() async {
    await #expect(processExitsWith: .success) {
      let signals = try ProcessSignals()
      var ends: [Int32] = [0, 0]
      guard unsafe pipe(&ends) == 0 else { exit(1) }
      close(ends[0])
      let written = unsafe write(ends[1], [1], 1)
      guard written == -1, errno == EPIPE else { exit(2) }
      guard signals.next(milliseconds: 0) == nil else { exit(3) }
      exit(0)
    }
  }
}
