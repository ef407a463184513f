/// What the store is told (sd_notify(3), "FDSTORE=1"), heard as a service manager hears it, and what it gives back.
import Glibc
import Testing

@testable import System

@Suite struct StoredNameTests {
  private static let names: [(StoredName, String)] = [
    (.slots, "slot"), (.over, "over"), (.listener(0), "l0"), (.listener(36), "l10"),
    (.listener(StoredName.limit - 1), "lzzz"), (.leg(slot: 0), "s000"), (.leg(slot: 35), "s00z"),
    (.leg(slot: 4095), "s35r"), (.leg(slot: StoredName.legLimit - 1), "scn3"),
  ]

  @Test(arguments: names)
  func readsAsItIsWritten(name: StoredName, text: String) {
    #expect(name.description == text)
    #expect(StoredName(text) == name)
    #expect(text.utf8.count <= 4)
  }

  /// All of a full store fit into one variable of the next process (execve(2), MAX_ARG_STRLEN).
  @Test func namesOfAllLegsFitIntoOneVariable() {
    let names = (0..<StoredName.legLimit).map { StoredName.leg(slot: $0).description }
    #expect(Set(names).count == StoredName.legLimit)
    #expect(!names.contains(StoredName.slots.description))
    #expect(names.joined(separator: ":").utf8.count < 100_000)
  }

  @Test(arguments: [
    "", "s", "l", "s0", "s00", "s0000", "s00A", "s-01", "s+01", "l00", "l01", "l-1", "l+1", "lzzzz", "l1 ",
    "SLOT", "slots", "ove", "scn4", "szzz", "stored", "portcullis.socket", "x000", "l०", "9",
  ])
  func othersAreNoNames(text: String) {
    #expect(StoredName(text) == nil)
  }
}

@Suite struct DescriptorStoreTests {
  private static let noStores: [[(String, String)]] = [
    [], [("FDSTORE", "8")], [("NOTIFY_SOCKET", "@nobody")],
    [("FDSTORE", "0"), ("NOTIFY_SOCKET", "@nobody")], [("FDSTORE", "-1"), ("NOTIFY_SOCKET", "@nobody")],
    [("FDSTORE", "many"), ("NOTIFY_SOCKET", "@nobody")], [("FDSTORE", "8"), ("NOTIFY_SOCKET", "vsock:2:1")],
  ]

  @Test(arguments: noStores)
  func noStore(environment: [(String, String)]) {
    #expect(DescriptorStore.offered(in: environment) == nil)
  }

  private func store(_ inbox: borrowing NoticeInbox) throws -> DescriptorStore {
    try #require(DescriptorStore.offered(in: [("FDSTORE", "42"), ("NOTIFY_SOCKET", inbox.name)]))
  }

  @Test func aDescriptorArrivesWithItsName() throws {
    let inbox = try NoticeInbox()
    let store = try store(inbox)
    #expect(store.capacity == 42)
    let sockets = try Sockets()
    try sockets.store(in: store, as: .leg(slot: 4095))
    guard var notice = inbox.next() else {
      Issue.record("nothing came")
      return
    }
    let (text, count, process, isWhole) = (
      notice.text, notice.descriptorCount, notice.process, notice.isWhole
    )
    #expect(text == "FDSTORE=1\nFDNAME=s35r\nFDPOLL=0")
    #expect(count == 1 && process == getpid() && isWhole)
    // It is the same connection: what is written there is read at the other end.
    guard let arrived = notice.takeDescriptor() else {
      Issue.record("no descriptor came")
      return
    }
    try arrived.writeAll(Array("still here".utf8))
    #expect(sockets.heard() == "still here")
    let isInherited = fcntl(arrived.number, F_GETFD) & FD_CLOEXEC == 0
    #expect(!isInherited)
  }

  @Test func namesAreRemoved() throws {
    let inbox = try NoticeInbox()
    let store = try store(inbox)
    try store.remove(.listener(3))
    try store.remove(.over)
    #expect(inbox.nextText() == "FDSTOREREMOVE=1\nFDNAME=l3")
    #expect(inbox.nextText() == "FDSTOREREMOVE=1\nFDNAME=over")
    #expect(inbox.nextText() == nil)
  }

  @Test func aStoreThatIsGoneIsAnError() throws {
    let store = try #require(
      DescriptorStore.offered(in: [("FDSTORE", "1"), ("NOTIFY_SOCKET", "@portcullis-nobody-\(getpid())")]))
    #expect(throws: SystemError("sendto NOTIFY_SOCKET", ECONNREFUSED)) { try store.remove(.slots) }
    let isSettled = store.settle(within: .seconds(1))
    #expect(!isSettled)
  }

  /// The manager has read everything before when it comes to the barrier.
  @Test func settledOnceTheManagerHasRead() throws {
    let manager = SharedInbox(try NoticeInbox())
    let store = try store(manager.inbox)
    try store.remove(.slots)
    let isSettled = store.settle(within: .milliseconds(1))
    #expect(!isSettled)
    #expect(manager.inbox.nextText() == "FDSTOREREMOVE=1\nFDNAME=slot")
    #expect(manager.inbox.nextText() == "BARRIER=1")
    let reading = try Thread(name: "manager") {
      var ready = pollfd(fd: manager.inbox.descriptor, events: Int16(POLLIN), revents: 0)
      _ = unsafe poll(&ready, 1, 60_000)
      _ = manager.inbox.next()
    }
    let isSettledNow = store.settle(within: .seconds(60))
    #expect(isSettledNow)
    reading.join()
  }

  /// More descriptors than a message may have do not get lost in the process that receives them.
  @Test func descriptorsThatAreNotTakenAreClosed() throws {
    let inbox = try NoticeInbox()
    let store = try store(inbox)
    let sockets = try Sockets()
    try sockets.store(in: store, as: .slots)
    sockets.closeNear()
    #expect(inbox.nextText() != nil)
    #expect(sockets.hasEnded())
  }
}

extension NoticeInbox {
  func nextText() -> String? {
    guard let notice = next() else { return nil }
    return notice.text
  }
}

private final class SharedInbox: Sendable {
  let inbox: NoticeInbox

  init(_ inbox: consuming NoticeInbox) { self.inbox = inbox }
}

/// Two sockets joined to each other; the far one is the peer's.
final class Sockets {
  private var held: OwnedDescriptor?
  private let far: OwnedDescriptor

  init() throws {
    var pair: [Int32] = [-1, -1]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0 else {
      throw SystemError("socketpair")
    }
    held = OwnedDescriptor(owning: pair[0])
    far = OwnedDescriptor(owning: pair[1])
  }

  /// Until `closeNear`.
  var nearNumber: Int32 { held?.number ?? -1 }

  func store(in store: DescriptorStore, as name: StoredName) throws {
    try store.store(OwnedDescriptor.duplicate(nearNumber), as: name)
  }

  func closeNear() { held = nil }

  func heard() -> String? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = unsafe recv(far.number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    return count < 0 ? nil : String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Whether nobody has the other end any more, or it was shut down.
  func hasEnded() -> Bool { heard() == "" }
}
