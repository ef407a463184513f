/// Messages as sd_notify(3) has them, received by a socket as the service manager has one.
import Glibc
import Testing
import Time

@testable import System

@Suite struct ServiceManagerTests {
  @Test(arguments: [
    (ServiceNotice.ready(status: "Listening"), "READY=1\nSTATUS=Listening"),
    (
      .reloading(at: MonotonicTime(nanoseconds: 1_234_567_999)),
      "RELOADING=1\nMONOTONIC_USEC=1234567\nSTATUS=Reloading"
    ),
    (.stopping(status: "Draining"), "STOPPING=1\nSTATUS=Draining"),
    (.alive(status: "2 sessions"), "WATCHDOG=1\nSTATUS=2 sessions"),
    (.alive(status: "a\nMAINPID=1\r\nb"), "WATCHDOG=1\nSTATUS=a MAINPID=1  b"),
  ])
  func noticesAsText(notice: ServiceNotice, text: String) {
    #expect(notice.text == text)
  }

  @Test func arrivesAtAPath() throws {
    let folder = try TemporaryFolder(prefix: "notify-")
    let inbox = try Inbox(path: "\(folder.path)/notify")
    let manager = try #require(try ServiceManager.asking(in: [("NOTIFY_SOCKET", "\(folder.path)/notify")]))
    try manager.tell(.ready(status: "up"))
    try manager.tell(.alive(status: "up"))
    #expect(inbox.next() == "READY=1\nSTATUS=up")
    #expect(inbox.next() == "WATCHDOG=1\nSTATUS=up")
    folder.remove()
  }

  /// The namespace has no files, so the name has to be this process's own.
  @Test func arrivesAtAnAbstractName() throws {
    let name = "portcullis-test-\(getpid())"
    let inbox = try Inbox(abstract: name)
    try ServiceManager(socket: "@" + name).tell(.stopping(status: "bye"))
    #expect(inbox.next() == "STOPPING=1\nSTATUS=bye")
  }

  @Test func nobodyThereIsAnErrorAndNoMore() throws {
    let folder = try TemporaryFolder(prefix: "notify-")
    let manager = try ServiceManager(socket: "\(folder.path)/nobody")
    #expect(throws: ServiceManagerError.unreachable(SystemError("sendto NOTIFY_SOCKET", ENOENT))) {
      try manager.tell(.ready(status: ""))
    }
    folder.remove()
  }

  @Test func aFullQueueIsGivenUpAfterASecond() throws {
    let folder = try TemporaryFolder(prefix: "notify-")
    let inbox = try Inbox(path: "\(folder.path)/notify")
    let manager = try ServiceManager(socket: "\(folder.path)/notify")
    var failure: ServiceManagerError?
    // net.unix.max_dgram_qlen is 10 by default, and at most some hundreds.
    for _ in 0..<2000 where failure == nil {
      do throws(ServiceManagerError) { try manager.tell(.alive(status: "")) } catch { failure = error }
    }
    #expect(failure == .unreachable(SystemError("sendto NOTIFY_SOCKET", EAGAIN)))
    #expect(inbox.next() != nil)
    folder.remove()
  }

  @Test(arguments: [
    "relative/path", "vsock:2:1234", "@",
    "/" + String(repeating: "a", count: 107), "@" + String(repeating: "a", count: 108),
  ])
  func socketsOfOtherKinds(name: String) {
    #expect(throws: ServiceManagerError.unsupportedSocket(name)) { try ServiceManager(socket: name) }
  }

  @Test(arguments: ["/" + String(repeating: "a", count: 106), "@" + String(repeating: "a", count: 107)])
  func theLongestNames(name: String) throws {
    _ = try ServiceManager(socket: name)
  }

  @Test func nobodyAsks() throws {
    #expect(try ServiceManager.asking(in: []) == nil)
    #expect(try ServiceManager.asking(in: [("NOTIFY_SOCKET", "")]) == nil)
  }

  private static let intervals: [([(String, String)], Duration?)] = [
    ([], nil), ([("WATCHDOG_USEC", "")], nil),
    ([("WATCHDOG_USEC", "30000000")], .seconds(30)),
    ([("WATCHDOG_USEC", "30000000"), ("WATCHDOG_PID", "42")], .seconds(30)),
    ([("WATCHDOG_USEC", "30000000"), ("WATCHDOG_PID", "43")], nil),
    ([("WATCHDOG_USEC", "30000000"), ("WATCHDOG_PID", "")], nil),
    ([("WATCHDOG_PID", "42")], nil),
  ]

  @Test(arguments: intervals)
  func watchdogIntervals(environment: [(String, String)], interval: Duration?) throws {
    #expect(try ServiceManager.watchdogInterval(in: environment, process: 42) == interval)
  }

  @Test(arguments: ["0", "-1", "30s", "99999999999999999999"])
  func wrongIntervals(text: String) {
    #expect(throws: ServiceManagerError.badInterval(text)) {
      try ServiceManager.watchdogInterval(in: [("WATCHDOG_USEC", text)], process: 42)
    }
  }
}

/// The service manager's end. Closed with the test's process at the latest.
private struct Inbox: ~Copyable {
  private let descriptor: OwnedDescriptor

  init(path: String) throws { try self.init(name: Array(path.utf8)) }
  init(abstract name: String) throws { try self.init(name: [0] + Array(name.utf8)) }

  private init(name: [UInt8]) throws {
    descriptor = OwnedDescriptor(owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // Names here are far shorter than the 108 bytes there are.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
    let bound = unsafe withUnsafePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor.number, $0, length)
      }
    }
    guard bound == 0 else { throw SystemError("bind") }
  }

  /// Datagrams on a UNIX socket have arrived when they were sent.
  func next() -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe recv(descriptor.number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
