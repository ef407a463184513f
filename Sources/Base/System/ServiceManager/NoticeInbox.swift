/// The other end of sd_notify(3): a datagram socket at which a service manager hears, and from which process.
internal import CLinux
internal import Glibc
internal import Time

package struct NoticeInbox: ~Copyable {
  /// For `NOTIFY_SOCKET`.
  package let name: String
  private let socket: OwnedDescriptor

  /// More than a notice of this program's needs; a longer one is not whole.
  private static let capacity = 8192
  /// What a thread takes of strangers before it ends; one datagram more has room within the usual limit of 1,024.
  private static let strangersDescriptors = 512
  /// So many threads may still be about to end, as what they have does not let itself be closed.
  private static let strangersThreads = 16
  /// Of this process, at first.
  private let threads = NoticeInbox.threads

  /// A name in the abstract namespace, as there may be no folder to write to. Everybody in the same network namespace
  /// can send to it: who did stands in what is received.
  package init() throws(SystemError) {
    let digits = KernelEntropy().bytes(8).map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined()
    try self.init(abstract: "portcullis-" + digits)
  }

  package init(abstract name: String) throws(SystemError) {
    var address = portcullis_address()
    // Both calls copy what they are lent.
    let isFit = unsafe name.withCString { unsafe portcullis_address_abstract(&address, $0) } == 0
    guard isFit else { throw SystemError("abstract socket", ENAMETOOLONG) }
    let descriptor = unsafe portcullis_notice_socket(&address)
    guard descriptor >= 0 else { throw SystemError("socket of notices") }
    socket = OwnedDescriptor(owning: descriptor)
    self.name = "@" + name
  }

  /// To wait for with poll(2).
  package var descriptor: Int32 { socket.number }

  /// Who has sent the one that waits, and whether descriptors are with it; nil when none does.
  package func peek() -> (process: Int32, hasDescriptors: Bool)? { Self.peek(socket.number) }

  /// The one that waits goes, and its descriptors with it. Where it has some, that may take as long as their sender likes.
  package func drop() { _ = portcullis_drop_notice(socket.number) }

  /// Takes those that wait in front of the first of `process`, with their descriptors, which are closed by a thread that
  /// ends: it alone has them, and nobody waits for it, whatever a sender has made of them (SO_LINGER, a file system of his
  /// own). The caller waits until they are out of the queue, and no longer.
  package func dropStrangers(to process: Int32?) throws(SystemError) {
    guard Self.threads <= threads + Self.strangersThreads else { throw SystemError("strangers", EAGAIN) }
    let number = socket.number
    let thread = try Thread(name: "strangers") {
      // Where it cannot be alone with them they are not taken in.
      let isAlone = portcullis_own_descriptors(number) == 0
      var taken = 0
      while taken < Self.strangersDescriptors, let next = Self.peek(number), next.process != process {
        // The thread that waits for this is not kept waiting by notices that come meanwhile either.
        taken += 1
        if isAlone, next.hasDescriptors {
          taken += Self.take(number)
        } else {
          _ = portcullis_drop_notice(number)
        }
      }
    }
    thread.join()
  }

  /// Those too that have ended but for their descriptors; 0 where nobody says.
  private static var threads: Int {
    var status = stat()
    return unsafe stat("/proc/self/task", &status) == 0 ? Int(status.st_nlink) : 0
  }

  private static func peek(_ number: Int32) -> (process: Int32, hasDescriptors: Bool)? {
    var (process, hasDescriptors): (Int32, Int32) = (0, 0)
    // The call writes two numbers.
    guard unsafe portcullis_peek_notice(number, &process, &hasDescriptors) == 0 else { return nil }
    return (process, hasDescriptors != 0)
  }

  /// Returns how many descriptors came with the one that waits, which stay open.
  private static func take(_ number: Int32) -> Int {
    var notice = portcullis_notice()
    // Without room for bytes none are written.
    return unsafe portcullis_receive_notice(number, nil, 0, &notice) < 0 ? 0 : Int(notice.count)
  }

  /// One that waits; nil when none does.
  package func next() -> ReceivedNotice? {
    var bytes = [UInt8](repeating: 0, count: Self.capacity)
    var notice = portcullis_notice()
    // The call writes at most as many bytes as the array has.
    let count = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
      unsafe portcullis_receive_notice(socket.number, buffer.baseAddress, buffer.count, &notice)
    }
    guard count >= 0 else { return nil }
    return ReceivedNotice(notice, Array(bytes.prefix(count)))
  }
}

/// What was received, from any sender. Closes the descriptors that were not taken.
package struct ReceivedNotice: ~Copyable {
  /// The sender, as the kernel has it.
  package let process: Int32
  /// False for more than there was room for, or descriptors that could not all be taken.
  package let isWhole: Bool
  package let bytes: [UInt8]
  private var numbers: [Int32]

  fileprivate init(_ notice: portcullis_notice, _ bytes: [UInt8]) {
    process = notice.process
    isWhole = notice.is_whole != 0
    self.bytes = bytes
    let count = min(Int(notice.count), 253)
    numbers = unsafe withUnsafeBytes(of: notice.descriptors) { raw in
      // 253 numbers stand there, one behind the other.
      unsafe Array(raw.bindMemory(to: Int32.self).prefix(count))
    }
  }

  deinit {
    for number in numbers { _ = close(number) }
  }

  package var text: String { String(decoding: bytes, as: UTF8.self) }
  package var descriptorCount: Int { numbers.count }

  /// The last of them.
  package mutating func takeDescriptor() -> OwnedDescriptor? {
    numbers.popLast().map { OwnedDescriptor(owning: $0) }
  }
}
