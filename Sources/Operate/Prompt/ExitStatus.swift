/// Exit statuses (sysexits.h) and how a command says why it ends with one.
import Glibc

package enum ExitStatus: Int32, Error {
  /// A question at the terminal was not answered with yes.
  case declined = 1
  case usage = 64
  case dataError = 65
  case unavailable = 69
  case software = 70
  case osError = 71
  case cannotCreate = 73
  case ioError = 74
  case temporaryFailure = 75
  case noPermission = 77
  case configuration = 78
}

/// A line to standard output, at once.
package func say(_ line: String) {
  write(line + "\n", to: 1)
}

/// Lines to standard error, whole and in order.
package func complain(_ lines: String...) {
  for line in lines { write("portcullis: \(line)\n", to: 2) }
}

/// Text to standard error as it is, for a line that is written over.
package func tell(_ text: String) {
  write(text, to: 2)
}

/// Whether a person is at this end.
package func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

private func write(_ text: String, to descriptor: Int32) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let written = unsafe bytes.withUnsafeBufferPointer {
      unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
    }
    if written <= 0 { return }
    bytes = bytes.dropFirst(written)
  }
}

/// Where problems are told: standard error at a start, the log at a reload.
package typealias Teller = (String) -> Void
