/// A socket that several users may open: its mode and group, and that none of them takes it from the others.
import Foundation
import Kit
import Synchronization
import Testing
import Time

@testable import Control
@testable import Sockets
@testable import System

@Suite struct SharedSocketTests {
  /// Tells who asked. The first request waits until it is let go.
  private final class Handler: ControlHandler {
    let entered = Signal()
    let letGo = Signal()
    let peers = Mutex<[UnixPeer?]>([])

    func answer(_ request: ControlRequest, from peer: UnixPeer?) -> ControlAnswer {
      let isFirst = peers.withLock { peers in
        peers.append(peer)
        return peers.count == 1
      }
      if isFirst, request == .statistics {
        entered.ring()
        letGo.wait(until: SystemClock().monotonic() + .seconds(60))
      }
      return .pruned(keys: 0)
    }
  }

  private let folder: TestFolder
  private var socket: String { folder.file("approvals.sock") }
  private let handler = Handler()

  init() throws {
    folder = try TestFolder("shared-")
  }

  private func start(_ limits: ControlServer.Limits = ControlServer.Limits()) throws -> ControlServer {
    let listener = try ControlServer.bind(socket, setting: "APPROVALS_SOCKET", group: UInt32(getegid()))
    return try ControlServer.start(on: listener, handler: handler, limits: limits, name: "approvals") {
      $0 != nil
    }
  }

  private var soon: MonotonicTime { SystemClock().monotonic() + .seconds(60) }

  @Test func itIsOpenToTheGroupAndNobodyElse() throws {
    let server = try start()
    defer { server.stop() }
    let attributes = try FileManager.default.attributesOfItem(atPath: socket)
    #expect(attributes[.posixPermissions] as? Int == 0o660)
    #expect(attributes[.groupOwnerAccountID] as? Int == Int(getegid()))
  }

  /// One that the process is not in: as somebody else in a process of its own where it is root, who may give to any.
  @Test func aForeignGroupIsRefused() async {
    await #expect(processExitsWith: .success) {
      if geteuid() == 0 {
        guard setgroups(0, nil) == 0, setgid(65_534) == 0, setuid(65_534) == 0 else { exit(1) }
      }
      let path = "/tmp/portcullis-foreign-\(getpid()).sock"
      do throws(ControlServerError) {
        _ = try ControlServer.bind(path, setting: "APPROVALS_SOCKET", group: 0)
        exit(2)
      } catch {
        exit(unsafe access(path, F_OK) == 0 ? 3 : 0)
      }
    }
  }

  @Test func theKernelSaysWhoAsks() throws {
    let server = try start()
    defer { server.stop() }
    #expect(try ControlClient.ask(.health, at: socket) == .pruned(keys: 0))
    #expect(handler.peers.withLock { $0 } == [UnixPeer(user: UInt32(geteuid()), process: getpid())])
  }

  @Test func aUserHasHisShareOfTheThreads() throws {
    var limits = ControlServer.Limits()
    limits.threadsPerUser = 1
    let server = try start(limits)
    defer { server.stop() }
    var first = LineChannel(try Socket.connecting(to: .unix(path: socket)))
    #expect(first.write(ControlRequest.statistics.line, until: soon) == .sent)
    #expect(handler.entered.wait(until: soon))
    guard case .refused(let refusal) = try ControlClient.ask(.health, at: socket) else {
      Issue.record("one user has two threads")
      return
    }
    #expect(refusal.code == .busy)
    handler.letGo.ring()
    guard case .line = first.readLine(limit: 1000, until: soon) else {
      Issue.record("no answer")
      return
    }
    _ = consume first
    // Its place is free again once the server has seen that it is gone.
    var answer = ControlAnswer.refused(refusal)
    while answer == .refused(refusal), SystemClock().monotonic() < soon {
      answer = try ControlClient.ask(.health, at: socket)
    }
    #expect(answer == .pruned(keys: 0))
  }

  /// Who has an answer has left, so that the next question finds a place.
  @Test func whoAsksAgainIsNotInHisOwnWay() throws {
    var limits = ControlServer.Limits()
    limits.threadsPerUser = 1
    limits.keepsClients = false
    let server = try start(limits)
    defer { server.stop() }
    for _ in 0..<1000 {
      #expect(try ControlClient.ask(.health, at: socket) == .pruned(keys: 0))
    }
  }

  @Test func aClientAsksOnce() throws {
    var limits = ControlServer.Limits()
    limits.keepsClients = false
    let server = try start(limits)
    defer { server.stop() }
    var channel = LineChannel(try Socket.connecting(to: .unix(path: socket)))
    let twice = ControlRequest.health.line + [UInt8(ascii: "\n")] + ControlRequest.health.line
    #expect(channel.write(twice, until: soon) == .sent)
    guard case .line = channel.readLine(limit: 1000, until: soon) else {
      Issue.record("no answer")
      return
    }
    // With a request unread, the kernel may say so instead of the end.
    switch channel.readLine(limit: 1000, until: soon) {
    case .ended, .failed: break
    default: Issue.record("a second answer")
    }
    #expect(handler.peers.withLock { $0.count } == 1)
  }
}
