import Addresses
import Foundation
import Glibc
import System
import Testing

@testable import Sockets

@Suite struct ListenerTests {
  @Test func acceptsAPeerAndSaysWhoItIs() throws {
    let listener = try loopbackListener()
    guard case .wouldBlock = listener.accept() else {
      Issue.record("somebody is there already")
      return
    }
    let client = try Socket.connecting(to: try address(of: listener.socket))
    let poller = try Poller()
    try poller.addReadable(listener.socket, token: 9)
    #expect(poller.wait(milliseconds: 5000) == 1)
    #expect(poller.event(0).token == 9)
    guard case .accepted(let server, let peer) = listener.accept() else {
      Issue.record("nobody was accepted")
      return
    }
    #expect(peer == client.localAddress()?.endpoint)
    // Non-blocking from the start.
    #expect(server.receive(1).result == .wouldBlock)
  }

  @Test func ipv6IsItsOwn() throws {
    try tryingOtherPorts {
      let listener = try Listener(
        on: Endpoint(address: .anyV6, port: 0), sharesPort: true)
      let port = try endpoint(of: listener.socket).port
      // Not mapped addresses too: IPv4 has listeners of its own.
      _ = try Listener(on: Endpoint(address: .anyV4, port: port), sharesPort: true)
      let client = try Socket.connecting(to: .internet(Endpoint(address: .loopbackV6, port: port)))
      let server = try accepted(by: listener)
      #expect(server.localAddress()?.endpoint == Endpoint(address: .loopbackV6, port: port))
      _ = client.connectFailure()
    }
  }

  /// What the test above would say of a listener that takes IPv4's port as well.
  @Test func aPortThatIsNeverFreeIsAnError() throws {
    let first = try loopbackListener()
    let endpoint = try SocketsTests.endpoint(of: first.socket)
    var tries = 0
    #expect(throws: SystemError("bind", EADDRINUSE)) {
      try tryingOtherPorts {
        tries += 1
        _ = try Listener(on: endpoint, sharesPort: false)
      }
    }
    #expect(tries == 5)
  }

  @Test func listenersOfOneProcessShareAPort() throws {
    let first = try loopbackListener(sharesPort: true)
    let endpoint = try SocketsTests.endpoint(of: first.socket)
    _ = try Listener(on: endpoint, sharesPort: true)
    #expect(throws: SystemError("bind", EADDRINUSE)) {
      _ = try Listener(on: endpoint, sharesPort: false)
    }
  }

  /// docs/architecture.md, "To the door": whoever claims a port shares it with his own listeners, and not with
  /// another's claim.
  @Test func aClaimedPortIsSharedAndNotClaimedAgain() throws {
    let first = try Listener(
      on: Endpoint(address: .loopbackV4, port: 0), sharesPort: true, claimsPort: true
    )
    let endpoint = try SocketsTests.endpoint(of: first.socket)
    #expect(throws: SystemError("bind", EADDRINUSE)) {
      _ = try Listener(on: endpoint, sharesPort: true, claimsPort: true)
    }
    let second = try Listener(on: endpoint, sharesPort: true)
    #expect(throws: SystemError("bind", EADDRINUSE)) {
      _ = try Listener(on: endpoint, sharesPort: true, claimsPort: true)
    }
    // The kernel gives peers to both.
    var counts = [0, 0]
    for _ in 0..<200 where counts.contains(0) {
      let client = try Socket.connecting(to: .internet(endpoint))
      let poller = try Poller()
      try poller.addReadable(first.socket, token: 0)
      try poller.addReadable(second.socket, token: 1)
      guard poller.wait(milliseconds: 5000) == 1 else {
        Issue.record("nobody came")
        return
      }
      let index = Int(poller.event(0).token)
      counts[index] += 1
      if index == 0 { _ = try accepted(by: first) } else { _ = try accepted(by: second) }
      _ = client.connectFailure()
    }
    #expect(!counts.contains(0))
  }

  /// docs/architecture.md, "To the door": a second gate on the port is refused although both would share it.
  @Test func theProbeNoticesASharedPort() throws { try tryingOtherPorts { try probeASharedPort() } }

  private func probeASharedPort() throws {
    let endpoint: Endpoint
    do {
      // At an address from where nobody calls anybody, as the port must stay free when the listener has gone.
      let listener = try Listener(
        on: Endpoint(address: IPAddress(v4: 0x7F54_0001), port: 0), sharesPort: true)
      endpoint = try SocketsTests.endpoint(of: listener.socket)
      #expect(throws: SystemError("bind", EADDRINUSE)) { try Listener.probe(endpoint) }
      #expect(throws: SystemError("bind", EADDRINUSE)) {
        try Listener.probe(Endpoint(address: .anyV4, port: endpoint.port))
      }
    }
    // And leaves nothing behind.
    try Listener.probe(endpoint)
    try Listener.probe(endpoint)
    _ = try Listener(on: endpoint, sharesPort: true)
  }

  /// A restart must not wait for the connections of the run before (TIME_WAIT).
  @Test func aPortWithOldConnectionsCanBeBoundAgain() throws { try tryingOtherPorts { try bindAgain() } }

  private func bindAgain() throws {
    let endpoint: Endpoint
    do {
      let listener = try loopbackListener(sharesPort: true)
      let local = try address(of: listener.socket)
      endpoint = try #require(local.endpoint)
      let client = try Socket.connecting(to: local)
      let server = try accepted(by: listener)
      server.finishSending()
      try waitUntilReadable(client)
      #expect(client.receive(1).result == .ended)
    }
    try Listener.probe(endpoint)
    _ = try Listener(on: endpoint, sharesPort: true)
  }

  @Test func aForeignAddressIsRefused() {
    // TEST-NET-1 (RFC 5737) is nobody's.
    let endpoint = Endpoint(address: IPAddress(v4: 0xC000_0201), port: 0)
    #expect(throws: SystemError("bind", EADDRNOTAVAIL)) {
      _ = try Listener(on: endpoint, sharesPort: false)
    }
  }

  @Test func acceptedSocketsInheritTheirOptions() throws {
    let listener = try loopbackListener(
      accepted: AcceptedOptions(receiveBufferBytes: 65_536, sendBufferBytes: 49_152, unsentLowWater: 32_768))
    let client = try Socket.connecting(to: try address(of: listener.socket))
    let server = try accepted(by: listener)
    #expect(Self.option(server, Int32(IPPROTO_TCP), TCP_NODELAY) == 1)
    #expect(Self.option(server, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT) == 32_768)
    #expect(Self.option(server, SOL_SOCKET, SO_KEEPALIVE) == 1)
    #expect(Self.option(server, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 60)
    // The kernel doubles what is asked for (socket(7)).
    #expect(Self.option(server, SOL_SOCKET, SO_RCVBUF) == 131_072)
    #expect(Self.option(server, SOL_SOCKET, SO_SNDBUF) == 98_304)
    #expect(Self.option(client, Int32(IPPROTO_TCP), TCP_NODELAY) == 0)
  }

  private static func option(_ socket: borrowing Socket, _ level: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    _ = unsafe getsockopt(socket.descriptor, level, name, &value, &length)
    return value
  }

  /// In a process of its own, because the limit is the process's.
  @Test func runningOutOfDescriptors() async {
    await #expect(processExitsWith: .success) {
      let listener = try loopbackListener()
      guard let address = listener.socket.localAddress() else { exit(1) }
      var reserve = ReserveDescriptor()
      let client = try Socket.connecting(to: address)
      let poller = try Poller()
      try poller.addReadable(listener.socket, token: 1)
      guard poller.wait(milliseconds: 5000) == 1 else { exit(2) }
      // Nothing above what is open now.
      let probe = dup(listener.socket.descriptor)
      close(probe)
      var limit = rlimit(rlim_cur: rlim_t(probe), rlim_max: rlim_t(probe))
      guard unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { exit(3) }
      // What another thread of the test process has closed in the meantime.
      while dup(listener.socket.descriptor) >= 0 {}
      guard case .exhausted(let error) = listener.accept(), error.number == EMFILE else { exit(4) }
      reserve.release()
      // Another thread of the test process may hold the freed descriptor for a moment.
      var isAccepted = false
      for _ in 0..<1000 where !isAccepted {
        if case .accepted = listener.accept() { isAccepted = true } else { _ = poller.wait(milliseconds: 5) }
      }
      guard isAccepted else { exit(5) }
      reserve.refill()
      guard case .wouldBlock = listener.accept() else { exit(6) }
      _ = client.connectFailure()
      exit(0)
    }
  }
}
