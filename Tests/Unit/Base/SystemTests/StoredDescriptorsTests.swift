/// What a process takes of what it was given, and what becomes of the rest.
import Glibc
import Kit
import Testing
import Time

@testable import System

@Suite struct StoredDescriptorsTests {
  /// Descriptors at numbers of their own, as a process has them behind execve(2): other tests run beside this one.
  private final class Given {
    let first: Int32
    let names: [String]
    let sockets: [Sockets]

    init(_ names: [String], at first: Int32, sockets: [Sockets]) {
      self.first = first
      self.names = names
      self.sockets = sockets
      for (index, socket) in sockets.enumerated() {
        _ = dup2(socket.nearNumber, first + Int32(index))
        socket.closeNear()
      }
    }

    func environment(count: Int? = nil, process: Int32 = 42) -> [(String, String)] {
      [
        ("LISTEN_PID", String(process)), ("LISTEN_FDS", String(count ?? names.count)),
        ("LISTEN_FDNAMES", names.joined(separator: ":")),
      ]
    }

    func take(count: Int? = nil, process: Int32 = 42) -> StoredDescriptors {
      StoredDescriptors(
        environment: environment(count: count, process: process), process: 42, first: first)
    }
  }

  private func given(_ names: [String], at first: Int32) throws -> Given {
    Given(names, at: first, sockets: try names.map { _ in try Sockets() })
  }

  @Test func legsAreTakenByTheirSlots() throws {
    let given = try given(["s001", "s000"], at: HighDescriptors.number(0))
    var stored = given.take()
    let legs = stored.legs
    #expect(legs == [0, 1])
    let listeners = stored.listeners
    #expect(listeners.isEmpty)
    guard let leg = stored.takeLeg(0) else {
      Issue.record("there is no leg")
      return
    }
    try leg.writeAll(Array("zero".utf8))
    #expect(given.sockets[1].heard() == "zero")
    let (number, isInherited, waits) = (
      leg.number, fcntl(leg.number, F_GETFD) & FD_CLOEXEC == 0, fcntl(leg.number, F_GETFL) & O_NONBLOCK == 0
    )
    #expect(number == HighDescriptors.number(1) && !isInherited && !waits)
    let again = stored.takeLeg(0) == nil
    #expect(again)
    let left = stored.legs
    #expect(left == [1])
    _ = stored.end(in: nil)
    try waitForEnd(of: given.sockets[0])
    #expect(!given.sockets[1].hasEnded())
  }

  @Test(arguments: [43, 0, -1])
  func whatIsForAnotherProcessIsLeftAlone(process: Int32) throws {
    let first = HighDescriptors.number(20) + process
    let given = try given(["s000"], at: first)
    let stored = given.take(process: process)
    let isEmpty = stored.isEmpty
    #expect(isEmpty)
    let ended = stored.end(in: nil)
    #expect(ended.isEmpty)
    #expect(!given.sockets[0].hasEnded())
    _ = close(first)
    try waitForEnd(of: given.sockets[0])
  }

  private static let nonsense: [[(String, String)]] = [
    [], [("LISTEN_PID", "42")], [("LISTEN_FDS", "1")], [("LISTEN_PID", "42"), ("LISTEN_FDS", "0")],
    [("LISTEN_PID", "42"), ("LISTEN_FDS", "-1")],
    [("LISTEN_PID", "42"), ("LISTEN_FDS", "99999999999999999999")],
    [("LISTEN_PID", "42"), ("LISTEN_FDS", "65537")], [("LISTEN_PID", "x"), ("LISTEN_FDS", "1")],
  ]

  @Test(arguments: nonsense)
  func nonsenseIsNothing(environment: [(String, String)]) {
    let stored = StoredDescriptors(environment: environment, process: 42, first: 7_000_000)
    let isEmpty = stored.isEmpty
    #expect(isEmpty)
  }

  /// A program that another test has started just then has the descriptor as well, until it is what it is to be.
  private func waitForEnd(of sockets: Sockets) throws {
    let deadline = SystemClock().monotonic() + .seconds(60)
    while !sockets.hasEnded() {
      try #require(SystemClock().monotonic() < deadline)
      sched_yield()
    }
  }

  /// Numbers that nobody has opened are passed over.
  @Test func descriptorsThatAreNotThere() throws {
    let given = Given(["s000", "s001"], at: HighDescriptors.number(80), sockets: [try Sockets()])
    let stored = given.take()
    let legs = stored.legs
    #expect(legs == [0])
  }

  /// Attack: names of no use, of the wrong kind, and two of one name. All are closed, none is taken for another.
  @Test func strangersAreClosedAndRemoved() throws {
    let inbox = try NoticeInbox()
    let store = DescriptorStore.offered(in: [("FDSTORE", "9"), ("NOTIFY_SOCKET", inbox.name)])
    let given = try given(
      ["s000", "stored", "slot", "l0", "s007", "s007", "a b", "szzz"], at: HighDescriptors.number(100))
    let stored = given.take()
    let legs = stored.legs
    #expect(legs == [0])
    let listeners = stored.listeners
    #expect(listeners.isEmpty)
    let removed = stored.end(in: store)
    #expect(removed == ["l0", "s000", "s007", "slot", "stored", "szzz"])
    for sockets in given.sockets { try waitForEnd(of: sockets) }
    for name in ["l0", "s000", "s007", "slot", "stored", "szzz"] {
      #expect(inbox.nextText() == "FDSTOREREMOVE=1\nFDNAME=\(name)")
    }
    #expect(inbox.nextText() == nil)
  }

  /// Which of the names would be whose?
  @Test(arguments: [
    (["s000"], HighDescriptors.number(120)), (["s000", "s001", "s002"], HighDescriptors.number(124)),
  ])
  func namesThatDoNotGoWithTheNumbers(names: [String], first: Int32) throws {
    let given = Given(names, at: first, sockets: [try Sockets(), try Sockets()])
    let stored = given.take(count: 2)
    let legs = stored.legs
    #expect(legs.isEmpty)
    _ = stored.end(in: nil)
    try waitForEnd(of: given.sockets[0])
    #expect(given.sockets[1].hasEnded())
  }

  @Test func listenersAndMemoryAreToldFromConnections() throws {
    let folder = try TemporaryFolder(prefix: "stored-")
    let listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let file = try OwnedDescriptor.open("\(folder.path)/memory", O_RDWR | O_CREAT, 0o600)
    #expect(listen(listening, 1) == 0)
    for (index, source) in [listening, listening, file.number, file.number].enumerated() {
      _ = dup2(source, HighDescriptors.number(140) + Int32(index))
    }
    _ = close(listening)
    let given = Given(["l2", "s000", "slot", "l4"], at: HighDescriptors.number(140), sockets: [])
    var stored = given.take()
    let listeners = stored.listeners
    #expect(listeners == [2])
    let legs = stored.legs
    #expect(legs.isEmpty)
    let (listener, slots, over) = (
      stored.takeListener(2) != nil, stored.takeSlots() != nil, stored.takeOver() != nil
    )
    #expect(listener && slots && !over)
    folder.remove()
  }

  @Test func theVariablesAreNotPassedOn() {
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { _ = unsafe setenv(name, "7", 1) }
    let stored = StoredDescriptors.take(from: [("LISTEN_PID", "7"), ("LISTEN_FDS", "7")], process: 42)
    let isEmpty = stored.isEmpty
    #expect(isEmpty)
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
      let isThere = unsafe getenv(name) != nil
      #expect(!isThere)
    }
  }
}
