/// Lines that somebody types, or a script sends, for a program that does something else in between; signals come as input.
import CLinux
import Dialing
import Glibc
package import System

package final class PromptInput {
  package enum Event: Equatable, Sendable {
    /// Without its end.
    case line(String)
    /// Nothing more will be typed.
    case end
    /// SIGINT, SIGTERM or SIGHUP.
    case signal(Int32)
    case quiet
  }

  private let input: OwnedDescriptor
  private let signals: OwnedDescriptor
  private var waiting: [UInt8] = []
  private var isAtEnd = false
  /// Beyond this a line is nothing that anybody types.
  private static let longest = 4_096

  /// To be made before other threads start: they inherit that the signals are blocked.
  package init(_ input: consuming OwnedDescriptor) throws(SystemError) {
    let wanted = [SIGINT, SIGTERM, SIGHUP]
    let number = unsafe wanted.withUnsafeBufferPointer { buffer in
      unsafe portcullis_signalfd(buffer.baseAddress, Int32(buffer.count))
    }
    guard number >= 0 else { throw SystemError("signalfd") }
    signals = OwnedDescriptor(owning: number)
    self.input = input
  }

  /// What comes next; `quiet` when that takes longer. The end is told once.
  package func next(within time: Duration) throws(SystemError) -> Event {
    let deadline = Deadline.after(time)
    while true {
      if let line = takeLine() { return .line(line) }
      switch try deadline.waitForAny(of: [signals.number, isAtEnd ? -1 : input.number]) {
      case 0:
        let number = portcullis_read_signal(signals.number)
        if number != 0 { return .signal(number) }
      case 1:
        var buffer = [UInt8](repeating: 0, count: Self.longest)
        let count = try input.read(into: &buffer)
        if count == 0 {
          isAtEnd = true
          return .end
        }
        waiting += buffer[..<count]
      default: return .quiet
      }
    }
  }

  private func takeLine() -> String? {
    guard let end = waiting.firstIndex(of: UInt8(ascii: "\n")) else {
      if waiting.count > Self.longest { waiting = [] }
      return nil
    }
    defer { waiting.removeFirst(end + 1) }
    let line = waiting[..<end]
    return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }
}
