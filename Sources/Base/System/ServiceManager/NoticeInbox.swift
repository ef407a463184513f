/// The other end of sd_notify(3): a datagram socket at which a service manager hears, and from which process.
internal import CLinux
internal import Glibc

package struct NoticeInbox: ~Copyable {
  /// For `NOTIFY_SOCKET`.
  package let name: String
  private let socket: OwnedDescriptor

  /// More than a notice of this program's needs; a longer one is not whole.
  private static let capacity = 8192

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

/// What was received, whoever sent it. Closes the descriptors that were not taken.
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
