/// System calls by name, as somebody would try them who has taken the process over; and how a child says what failed.
import CSeccomp
import Glibc

enum Attempts {
  private typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int

  /// What errno the call ends with; 0 when it succeeds, nil when this architecture has none of that name.
  static func errno(of name: String, _ arguments: Int...) -> Int32? {
    let number = unsafe seccomp_syscall_resolve_name(name)
    guard number >= 0, let symbol = unsafe dlsym(nil, "syscall") else { return nil }
    // syscall(2) takes numbers alone, as many as the call has; more do no harm.
    let call = unsafe unsafeBitCast(symbol, to: Call.self)
    let all = arguments + Array(repeating: 0, count: 6 - arguments.count)
    let result = call(Int(number), all[0], all[1], all[2], all[3], all[4], all[5])
    return result == -1 ? Glibc.errno : 0
  }

  /// Ends the child: well if all are as expected, otherwise with the names of the others on standard error.
  static func finish(_ found: [(name: String, errno: Int32?, expected: Int32)]) -> Never {
    let wrong = found.filter { $0.errno != nil && $0.errno != $0.expected }
    for each in wrong {
      let line = "\(each.name): errno \(each.errno ?? 0), not \(each.expected)\n"
      _ = unsafe Array(line.utf8).withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
    }
    // At once: what a sanitizer does at an orderly end is what is forbidden here.
    _exit(wrong.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE)
  }
}
