/// What the service manager that started the process is told, as datagrams (systemd's sd_notify(3), "Notes").
///
/// The protocol is a few words on a UNIX socket, so no library of systemd's is needed for it.
internal import CLinux
internal import Glibc
package import Time

/// One message: assignments, a line each.
package enum ServiceNotice: Equatable, Sendable {
  case ready(status: String)
  /// The time lets the manager tell this reload from an earlier one.
  case reloading(at: MonotonicTime)
  case stopping(status: String)
  /// For the watchdog: no sign of life within its interval, and the manager ends the process.
  case alive(status: String)

  package var text: String {
    switch self {
    case .ready(let status): "READY=1\nSTATUS=\(Self.line(status))"
    case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time.nanoseconds / 1000)\nSTATUS=Reloading"
    case .stopping(let status): "STOPPING=1\nSTATUS=\(Self.line(status))"
    case .alive(let status): "WATCHDOG=1\nSTATUS=\(Self.line(status))"
    }
  }

  /// A line break would begin another assignment.
  private static func line(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
  }
}

package enum ServiceManagerError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Neither a path nor an abstract name, or too long for a socket's address.
  case unsupportedSocket(String)
  case badInterval(String)
  case unreachable(SystemError)

  package var description: String {
    switch self {
    case .unsupportedSocket(let name):
      "NOTIFY_SOCKET=\(name) is neither a path nor @ and a name of at most 107 bytes"
    case .badInterval(let text): "WATCHDOG_USEC=\(text) is no number of microseconds above 0"
    case .unreachable(let error): error.description
    }
  }
}

package struct ServiceManager: Sendable {
  private let address: portcullis_address

  /// A manager whose queue stays full this long goes without the message: nobody here may wait longer.
  private static let patience: Duration = .seconds(1)

  /// What `NOTIFY_SOCKET` names: a path, or after `@` a name in the abstract namespace (unix(7)).
  package init(socket: String) throws(ServiceManagerError) {
    var address = portcullis_address()
    // Both calls copy the name, which is lent for their duration.
    let isSupported =
      switch socket.utf8.first {
      case UInt8(ascii: "@"):
        unsafe String(socket.dropFirst()).withCString { unsafe portcullis_address_abstract(&address, $0) }
          == 0
      case UInt8(ascii: "/"): unsafe socket.withCString { unsafe portcullis_address_unix(&address, $0) } == 0
      default: false
      }
    guard isSupported else { throw .unsupportedSocket(socket) }
    self.address = address
  }

  /// Nil when nobody has asked to be told.
  package static func asking(in environment: [(String, String)]) throws(ServiceManagerError)
    -> ServiceManager?
  {
    guard let socket = value("NOTIFY_SOCKET", environment), !socket.isEmpty else { return nil }
    return try ServiceManager(socket: socket)
  }

  /// How often at least the manager wants a sign of life from `process`; nil when it wants none from it.
  package static func watchdogInterval(
    in environment: [(String, String)], process: Int32
  ) throws(ServiceManagerError) -> Duration? {
    guard let text = value("WATCHDOG_USEC", environment), !text.isEmpty else { return nil }
    // Without a process the interval is meant for any process that reads it.
    if let wanted = value("WATCHDOG_PID", environment), Int32(wanted) != process { return nil }
    guard let microseconds = Int64(text), microseconds > 0 else { throw .badInterval(text) }
    return .microseconds(microseconds)
  }

  static func value(_ name: String, _ environment: [(String, String)]) -> String? {
    environment.first { $0.0 == name }?.1
  }

  /// Waits at most a second for room in the manager's queue.
  package func tell(_ notice: ServiceNotice) throws(ServiceManagerError) {
    do throws(SystemError) {
      try send(notice.text)
    } catch {
      throw .unreachable(error)
    }
  }

  /// What another process said to the manager in this one's place, a line each.
  package func pass(_ lines: [String]) throws(SystemError) {
    try send(lines.joined(separator: "\n"))
  }

  /// - Parameter descriptor: one that the manager gets a duplicate of; it stays open here.
  func send(_ text: String, beside descriptor: Int32 = -1) throws(SystemError) {
    var address = address
    let bytes = Array(text.utf8)
    // The call reads the address and the bytes, which outlive it.
    let sent = unsafe bytes.withUnsafeBufferPointer { buffer in
      unsafe portcullis_send_datagram(
        &address, buffer.baseAddress, buffer.count, descriptor, Int32(Self.patience.wholeMilliseconds))
    }
    if sent != bytes.count { throw SystemError("sendto NOTIFY_SOCKET") }
  }
}
