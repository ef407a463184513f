/// Listeners of one process that the next goes on with: a store is played by a socket, and a process by its descriptors.
import Addresses
import Configuration
import Glibc
import Kit
import Sockets
import Testing
import Time

@testable import Gateway
@testable import System

@Suite struct ListenersTests {
  private static let loopback = "127.0.0.1:0"

  /// What a service manager keeps between two processes.
  private final class Manager {
    let inbox: NoticeInbox
    private(set) var kept: [(name: String, number: Int32)] = []
    private(set) var heard: [String] = []

    init() throws { inbox = try NoticeInbox() }

    deinit { for (_, number) in kept { _ = close(number) } }

    var store: DescriptorStore {
      get throws {
        try #require(DescriptorStore.offered(in: [("FDSTORE", "100"), ("NOTIFY_SOCKET", inbox.name)]))
      }
    }

    /// Everything that was said to it since the last time, by names.
    func attend() -> [String] {
      var said: [String] = []
      while var notice = inbox.next() {
        let lines = notice.text.split(separator: "\n")
        let name = String(lines[1].dropFirst("FDNAME=".count))
        if let descriptor = notice.takeDescriptor() {
          kept.append((name, descriptor.release()))
          said.append("+" + name)
        } else {
          for (_, number) in kept.filter({ $0.name == name }) { _ = close(number) }
          kept.removeAll { $0.name == name }
          said.append("-" + name)
        }
      }
      return said
    }

    /// What the next process is given, from a number of the test's own on.
    func given(at place: Int32) -> StoredDescriptors {
      let first = HighDescriptors.number(place)
      for (index, (_, number)) in kept.enumerated() { _ = dup2(number, first + Int32(index)) }
      let environment = [
        ("LISTEN_PID", "42"), ("LISTEN_FDS", String(kept.count)),
        ("LISTEN_FDNAMES", kept.map(\.name).joined(separator: ":")),
      ]
      return StoredDescriptors(environment: environment, process: 42, first: first)
    }
  }

  private func configuration(_ listen: String, loops: Int) throws -> GateConfiguration {
    try ConfigurationLoader.load(
      environment: [
        ("BACKEND", "echo:"), ("LISTEN", listen), ("WORKERS", String(loops)),
        ("APPATTEST_APP_IDS", "ABCDE12345.com.example.mud"),
      ], files: SystemFiles(), processors: 4, descriptorLimit: 4096
    ).configuration
  }

  private func open(
    _ listen: String, loops: Int, _ manager: Manager, at first: Int32? = nil
  ) throws -> Listeners {
    var stored = first.map { manager.given(at: $0) } ?? StoredDescriptors()
    return try Listeners(configuration(listen, loops: loops), &stored, manager.store)
  }

  /// A client that has connected, and waits in somebody's backlog.
  private func client(of endpoint: Endpoint) throws -> Socket {
    let client = try Socket.connecting(to: .internet(endpoint))
    let readiness = client.wait(for: .writing, until: SystemClock().monotonic() + .seconds(60))
    let failure = client.connectFailure()
    #expect(readiness == .ready)
    #expect(failure == nil)
    return client
  }

  /// Everybody who waits at one of the listeners.
  private func accepted(_ listeners: Listeners) -> Int {
    var count = 0
    for door in listeners.rows.joined() {
      while case .accepted = door.listener.accept() { count += 1 }
    }
    return count
  }

  @Test func theStoreIsToldOfEach() throws {
    let manager = try Manager()
    let listeners = try open("127.0.0.1:0,[::1]:0", loops: 2, manager)
    #expect(listeners.rows.map(\.count) == [2, 2])
    #expect(listeners.endpoints.map(\.address) == [.loopbackV4, .loopbackV6])
    #expect(manager.attend() == ["+l0", "+l1", "+l2", "+l3"])
  }

  /// The first process is gone with all that it had; whoever came meanwhile is served by the second.
  @Test func clientsWaitForTheNextProcess() throws {
    let manager = try Manager()
    var first: Listeners? = try open(Self.loopback, loops: 2, manager)
    let endpoint = try #require(first?.endpoints.first)
    #expect(manager.attend() == ["+l0", "+l1"])
    first = nil
    for _ in 0..<10 { _ = try client(of: endpoint) }
    let second = try open(endpoint.description, loops: 2, manager, at: 300)
    #expect(second.endpoints == [endpoint])
    #expect(second.rows.map(\.count) == [1, 1])
    #expect(manager.attend().isEmpty)
    #expect(accepted(second) == 10)
  }

  @Test func theKernelsPortStays() throws {
    let manager = try Manager()
    var first: Listeners? = try open("127.84.0.2:0,127.0.0.2:0", loops: 1, manager)
    let endpoints = try #require(first?.endpoints)
    _ = manager.attend()
    first = nil
    let second = try open("127.0.0.2:0,127.84.0.2:0", loops: 1, manager, at: 310)
    #expect(second.endpoints == endpoints.reversed())
    #expect(manager.attend().isEmpty)
  }

  /// What the kernel keeps for an accepted connection is bounded, whoever opened its listener; the kernel doubles the sizes
  /// of buffers that it is asked for (socket(7)).
  @Test func acceptedConnectionsGetBoundedBuffers() throws {
    let manager = try Manager()
    var first: Listeners? = try open(Self.loopback, loops: 1, manager)
    let endpoint = try #require(first?.endpoints.first)
    let tcp = Int32(IPPROTO_TCP)
    func expectBounds(_ listeners: Listeners?) throws {
      let descriptor = try #require(listeners?.rows[0][0]).listener.socket.descriptor
      #expect(Self.option(descriptor, SOL_SOCKET, SO_RCVBUF) == 2 * 64 * 1024)
      #expect(Self.option(descriptor, SOL_SOCKET, SO_SNDBUF) == 2 * 128 * 1024)
      #expect(Self.option(descriptor, tcp, TCP_NOTSENT_LOWAT) == 64 * 1024)
      #expect(Self.option(descriptor, tcp, TCP_NODELAY) == 1)
      #expect(Self.option(descriptor, SOL_SOCKET, SO_KEEPALIVE) == 1)
    }
    try expectBounds(first)
    _ = manager.attend()
    first = nil
    try expectBounds(open(endpoint.description, loops: 1, manager, at: 360))
  }

  private static func option(_ descriptor: Int32, _ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    // The call writes one number.
    _ = unsafe getsockopt(descriptor, level, name, &value, &length)
    return value
  }

  /// None is given up, as somebody may wait in it.
  @Test func fewerLoopsShareMoreListeners() throws {
    let manager = try Manager()
    var first: Listeners? = try open(Self.loopback, loops: 4, manager)
    let endpoint = try #require(first?.endpoints.first)
    _ = manager.attend()
    first = nil
    for _ in 0..<40 { _ = try client(of: endpoint) }
    let second = try open(endpoint.description, loops: 3, manager, at: 320)
    #expect(second.rows.map(\.count) == [2, 1, 1])
    #expect(second.endpoints == [endpoint])
    #expect(manager.attend().isEmpty)
    #expect(accepted(second) == 40)
  }

  @Test func moreLoopsGetListenersOfTheirOwn() throws {
    let manager = try Manager()
    var first: Listeners? = try open(Self.loopback, loops: 1, manager)
    let endpoint = try #require(first?.endpoints.first)
    _ = manager.attend()
    first = nil
    let second = try open(endpoint.description, loops: 3, manager, at: 330)
    #expect(second.rows.map(\.count) == [1, 1, 1])
    #expect(manager.attend() == ["+l1", "+l2"])
    _ = try client(of: endpoint)
    #expect(accepted(second) == 1)
  }

  /// Its name is not used again while the store may still have it.
  @Test func whatListenDoesNotNameAnyMoreIsClosed() throws {
    let manager = try Manager()
    var first: Listeners? = try open("127.84.0.2:0,127.0.0.2:0", loops: 1, manager)
    let endpoints = try #require(first?.endpoints)
    _ = manager.attend()
    first = nil
    let second = try open("\(endpoints[1]),127.0.0.3:0", loops: 1, manager, at: 340)
    #expect(second.endpoints[0] == endpoints[1])
    #expect(manager.attend() == ["-l0", "+l2"])
    let refused = try Socket.connecting(to: .internet(endpoints[0]))
    _ = refused.wait(for: .writing, until: SystemClock().monotonic() + .seconds(60))
    #expect(refused.connectFailure()?.number == ECONNREFUSED)
  }

  /// Attack on the claim: another gate on the address is refused while only the store has the listeners, also one that
  /// has listeners of its own there.
  @Test func anotherGateIsNoticedBetweenTwoProcesses() throws {
    let (manager, stranger) = (try Manager(), try Manager())
    var first: Listeners? = try open(Self.loopback, loops: 2, manager)
    let endpoint = try #require(first?.endpoints.first)
    _ = manager.attend()
    first = nil
    #expect(throws: GateError.listen(endpoint, SystemError("bind", EADDRINUSE))) {
      _ = try open(endpoint.description, loops: 2, stranger)
    }
    #expect(stranger.attend().isEmpty)
  }

  /// The store has what the last process left, and the next may have more luck.
  @Test func aProcessThatCannotStartLeavesTheStoreAsItWas() throws {
    let (manager, stranger) = (try Manager(), try Manager())
    let taken = try open(Self.loopback, loops: 1, stranger)
    var first: Listeners? = try open("127.0.0.2:0", loops: 1, manager)
    _ = manager.attend()
    first = nil
    #expect(first == nil)
    #expect(throws: GateError.self) {
      _ = try open("127.0.0.3:0,\(taken.endpoints[0])", loops: 1, manager, at: 350)
    }
    #expect(manager.attend().isEmpty)
  }
}
