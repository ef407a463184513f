/// Another program, started and waited for. It ends with the process that started it, by SIGTERM at the latest.
internal import CLinux
internal import Glibc

/// How a process ended (wait(2)).
package enum ProcessEnding: Equatable, Sendable, CustomStringConvertible {
  case exited(Int32)
  case killed(signal: Int32)

  package var description: String {
    switch self {
    case .exited(let code): "ended with \(code)"
    case .killed(let signal): "was ended by signal \(signal)"
    }
  }
}

package struct ChildProcess: Equatable, Sendable {
  package let number: Int32

  /// What a program is given beside the standard descriptors.
  package struct Program: Sendable {
    /// Executed as it is at that moment.
    package var path: String
    package var arguments: [String]
    package var environment: [(String, String)]
    /// Its 3, 4 and so on, with names as sd_listen_fds(3) has them. Each number is that of a descriptor of this process,
    /// at least `lowest(count:)`.
    package var descriptors: [(number: Int32, name: String)]

    package init(
      path: String, arguments: [String], environment: [(String, String)],
      descriptors: [(number: Int32, name: String)]
    ) {
      self.path = path
      self.arguments = arguments
      self.environment = environment
      self.descriptors = descriptors
    }

    /// Below it the numbers are the new process's.
    package static func lowest(count: Int) -> Int32 { Int32(3 + count) }
  }

  /// Returns when the program is executed, or why it is not. It begins with these signals blocked: what is sent before it
  /// has a handler waits for it.
  package static func start(_ program: Program) throws(SystemError) -> ChildProcess {
    var environment = program.environment.map { "\($0.0)=\($0.1)" }
    if !program.descriptors.isEmpty {
      environment.append("LISTEN_FDS=\(program.descriptors.count)")
      environment.append("LISTEN_FDNAMES=\(program.descriptors.map(\.name).joined(separator: ":"))")
      // The new process alone knows its number.
      environment.append(processVariable + String(repeating: " ", count: 11))
    }
    let numbers = program.descriptors.map(\.number)
    let signals = [SIGTERM, SIGINT, SIGHUP]
    let (arguments, variables) = (CStrings(program.arguments), CStrings(environment))
    // All of it is lent for the call, which copies the process with it.
    let process = withExtendedLifetime((arguments, variables)) {
      unsafe program.path.withCString { path in
        unsafe numbers.withUnsafeBufferPointer { numbers in
          unsafe signals.withUnsafeBufferPointer { signals in
            var form = unsafe portcullis_program()
            unsafe form.path = path
            unsafe form.arguments = UnsafePointer(arguments.pointers)
            unsafe form.environment = UnsafePointer(variables.pointers)
            if !numbers.isEmpty {
              unsafe form.digits = variables.last.map { unsafe $0 + processVariable.utf8.count }
            }
            unsafe form.descriptors = numbers.baseAddress
            unsafe form.count = Int32(numbers.count)
            unsafe form.signals = signals.baseAddress
            unsafe form.signal_count = Int32(signals.count)
            return unsafe portcullis_start(&form)
          }
        }
      }
    }
    guard process > 0 else { throw SystemError("execute \(program.path)") }
    return ChildProcess(number: process)
  }

  private static let processVariable = "LISTEN_PID="

  /// To a process that has not been reaped yet, or its number may be another's.
  package func send(_ signal: Int32) {
    _ = kill(number, signal)
  }

  /// One of this process's children that has ended, also one that came to it as an orphan; nil when none has.
  package static func reap() -> (process: ChildProcess, ending: ProcessEnding)? {
    var (code, signal): (Int32, Int32) = (0, 0)
    let process = unsafe portcullis_reap(&code, &signal)
    guard process > 0 else { return nil }
    return (ChildProcess(number: process), code >= 0 ? .exited(code) : .killed(signal: signal))
  }
}

/// Texts as execve(2) takes them; freed with this.
@safe final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let count: Int

  init(_ texts: [String]) {
    count = texts.count
    unsafe pointers = .allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() { unsafe (pointers + index).initialize(to: strdup(text)) }
    unsafe (pointers + count).initialize(to: nil)
  }

  var last: UnsafeMutablePointer<CChar>? { count == 0 ? nil : unsafe pointers[count - 1] }

  deinit {
    for index in 0..<count { unsafe free(pointers[index]) }
    unsafe pointers.deallocate()
  }
}
