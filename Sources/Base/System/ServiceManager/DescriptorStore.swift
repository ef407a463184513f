/// Descriptors that the service manager keeps while the process is replaced (sd_notify(3), `FDSTORE=1`).
///
/// There is one where `FDSTORE` in the environment says how many it holds: systemd 254 and `portcullis supervise` set it,
/// and the unit does for an older systemd.
internal import CLinux
internal import Glibc
internal import Time

/// Each call sends one datagram and waits at most a second for room in the manager's queue: not for a loop. The manager
/// does not answer. It drops what is above `capacity`, so that has to be counted here, and looks for each new descriptor
/// among all that it has.
package struct DescriptorStore: Sendable {
  /// How many descriptors it holds.
  package let capacity: Int
  private let manager: ServiceManager

  /// Nil where nobody offers one, or in words that are not understood.
  package static func offered(in environment: [(String, String)]) -> DescriptorStore? {
    guard let text = ServiceManager.value("FDSTORE", environment), let capacity = Int(text), capacity > 0,
      let manager = try? ServiceManager.asking(in: environment)
    else { return nil }
    return DescriptorStore(capacity: capacity, manager: manager)
  }

  /// The manager gets a duplicate; `descriptor` stays open here. What it already has under that name it keeps beside it:
  /// `remove` that first. It does not watch the descriptor (`FDPOLL=0`): a connection whose game hung up is still there
  /// for the next process to find that out.
  package func store(_ descriptor: borrowing OwnedDescriptor, as name: StoredName) throws(SystemError) {
    try send("FDSTORE=1\nFDNAME=\(name)\nFDPOLL=0", beside: descriptor)
  }

  /// The descriptor is borrowed, and so open, until it has been sent.
  private func send(_ text: String, beside descriptor: borrowing OwnedDescriptor) throws(SystemError) {
    try manager.send(text, beside: descriptor.number)
  }

  /// Everything of that name; nothing of that name is as good. A connection is open as long as the manager has it: shut
  /// it down before.
  package func remove(_ name: StoredName) throws(SystemError) {
    try remove(named: name.description)
  }

  /// Of a name that is none of this program's.
  func remove(named name: String) throws(SystemError) {
    try manager.send("FDSTOREREMOVE=1\nFDNAME=\(name)")
  }

  /// Returns when the manager has read all that it was told before (sd_notify_barrier(3)); false when it has not within
  /// `time`.
  package func settle(within time: Duration) -> Bool {
    var ends: [Int32] = [-1, -1]
    // The call writes two numbers, and the array has two.
    let failed = unsafe ends.withUnsafeMutableBufferPointer { unsafe portcullis_pipe($0.baseAddress) } != 0
    if failed { return false }
    let reading = OwnedDescriptor(owning: ends[0])
    do throws(SystemError) {
      let writing = OwnedDescriptor(owning: ends[1])
      try send("BARRIER=1", beside: writing)
    } catch {
      return false
    }
    // The manager closes its duplicate of the writing end, which is the only one by now.
    var ready = pollfd(fd: reading.number, events: 0, revents: 0)
    return unsafe poll(&ready, 1, Int32(clamping: time.wholeMilliseconds)) > 0
  }
}
