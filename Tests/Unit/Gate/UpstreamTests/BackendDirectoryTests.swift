import Addresses
import Kit
import Sockets
import Time
import Testing

@testable import Upstream

@Suite struct BackendDirectoryTests {
  private let now = MonotonicTime(nanoseconds: 10_000_000_000)

  @Test func addressesNeedNoResolver() throws {
    let directory = BackendDirectory(target: .tcp(host: "127.0.0.1", port: 4000))
    #expect(directory.addresses.map(\.description) == ["127.0.0.1:4000"])
    #expect(directory.name == nil)
    #expect(directory.resolve() == nil)
    #expect(
      BackendDirectory(target: .tcp(host: "::1", port: 4000)).addresses.map(\.description) == ["[::1]:4000"])
    #expect(
      BackendDirectory(target: .unix(path: "/run/mud.sock")).addresses == [.unix(path: "/run/mud.sock")])
    #expect(BackendDirectory(target: .echo).addresses.isEmpty)
  }

  @Test func aNameIsResolvedByHandAndKept() {
    let directory = BackendDirectory(target: .tcp(host: "localhost", port: 4000))
    #expect(directory.name?.host == "localhost")
    #expect(directory.addresses.isEmpty)
    #expect(directory.resolve() == nil)
    #expect(
      directory.addresses.contains { $0.description == "127.0.0.1:4000" || $0.description == "[::1]:4000" })
    #expect(Set(directory.addresses.map(\.description)).count == directory.addresses.count)
  }

  /// A label of 64 letters cannot be looked up at all (RFC 1035 §2.3.4).
  @Test func aFailureIsTold() {
    let directory = BackendDirectory(
      target: .tcp(host: String(repeating: "a", count: 64) + ".test", port: 4000))
    #expect(directory.resolve()?.isEmpty == false)
    #expect(directory.addresses.isEmpty)
  }

  @Test func aFailedConnectIsRememberedForASecond() {
    let directory = BackendDirectory(target: .echo)
    #expect(!directory.failedRecently(now: now))
    directory.noteFailure(at: now)
    #expect(directory.failedRecently(now: now))
    #expect(directory.failedRecently(now: now + .milliseconds(999)))
    #expect(!directory.failedRecently(now: now + .milliseconds(1000)))
    #expect(!directory.failedRecently(now: now + .milliseconds(1001)))
  }

  @Test func aSuccessForgives() {
    let directory = BackendDirectory(target: .echo)
    directory.noteFailure(at: now)
    directory.noteSuccess(at: nil)
    #expect(!directory.failedRecently(now: now))
  }

  /// An address that never answers costs its share of the time once, and not at each admission.
  @Test func theOneThatAnsweredIsTriedFirst() {
    let directory = BackendDirectory(target: .tcp(host: "game.test", port: 4000))
    let addresses: [SocketAddress] = (0..<4).map {
      .internet(Endpoint(address: address($0), port: 4000))
    }
    directory.know(Array(addresses[0...2]))
    directory.noteSuccess(at: addresses[0])
    #expect(directory.addresses == Array(addresses[0...2]))
    directory.noteSuccess(at: addresses[2])
    #expect(directory.addresses == [addresses[2], addresses[0], addresses[1]])
    // Also when the name is asked for again; not when it does not lead there any more.
    directory.know([addresses[1], addresses[0], addresses[2]])
    #expect(directory.addresses == [addresses[2], addresses[1], addresses[0]])
    directory.know([addresses[0], addresses[3]])
    #expect(directory.addresses == [addresses[0], addresses[3]])
    directory.noteSuccess(at: addresses[2])
    #expect(directory.addresses == [addresses[0], addresses[3]])
  }
}
