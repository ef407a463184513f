/// A failed system call: its name, errno, and errno's text.
internal import Glibc

package struct SystemError: Error, Equatable, Sendable, CustomStringConvertible {
  package let call: String
  package let number: Int32

  package init(_ call: String, _ number: Int32) {
    self.call = call
    self.number = number
  }

  /// With errno as the last call left it.
  package init(_ call: String) {
    self.init(call, errno)
  }

  package var description: String {
    // strerror's text for a known number is static; it is copied at once.
    let text = unsafe String(cString: strerror(number))
    return "\(call): \(text)"
  }
}
