/// Closes what the gate has sent, on a thread of its own: close(2) may wait for the other end.
internal import Glibc
internal import System

final class DescriptorCloser: Sendable {
  private let waiting: Monitor<[Int32]>

  /// Its thread ends with the process.
  init() throws(SystemError) {
    let waiting = Monitor<[Int32]>([])
    self.waiting = waiting
    _ = try Thread(name: "closer") {
      while true {
        let number = waiting.wait { numbers in numbers.popLast().map { .done($0) } ?? .wait }
        _ = Glibc.close(number)
      }
    }
  }

  func close(_ descriptor: consuming OwnedDescriptor) { close(descriptor.release()) }

  /// Nobody may use the number any more.
  func close(_ number: Int32) {
    waiting.withLock { numbers, wake in
      numbers.append(number)
      wake.one()
    }
  }
}
