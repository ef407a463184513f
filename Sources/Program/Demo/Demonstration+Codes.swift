/// The demonstration's chapter about a login without the gate: plain telnet, and a code from the phone.
internal import Addresses
internal import Device
internal import Dialing
internal import PortcullisDevice
internal import Sockets
internal import System

extension Demonstration {
  func typeCodes() {
    tell("\nAnna plays from an old telnet client, which has no key")
    let (file, endpoint) = (folder + "/anna.json", mud.endpoint)
    var used = ""
    step("login anna: her phone signs, shows six digits, and she types them") { _, _ in
      let visitor = try TelnetVisitor(endpoint)
      try visitor.type("login anna")
      _ = try visitor.heard(until: "Type: code ")
      used = try Self.code(file)
      try visitor.type("code \(used)")
      return try visitor.heard(until: "Welcome back, anna.") ? used : nil
    }
    step("the same code at another login: it was good once, for that one") { _, _ in
      let visitor = try TelnetVisitor(endpoint)
      try visitor.type("login anna")
      _ = try visitor.heard(until: "Type: code ")
      try visitor.type("code \(used)")
      guard try visitor.heard(until: "That is not the code.") else { return nil }
      return "refused"
    }
    step("two logins in one breath: the code of the one lets nobody in by the other's name") { _, _ in
      let visitor = try TelnetVisitor(endpoint)
      let before = try Self.logins(file)
      try visitor.type("login anna\nlogin nobody")
      let code = try Self.code(file, after: before)
      _ = try visitor.heard(until: "You cannot log in")
      try visitor.type("code \(code)")
      return try visitor.heard(until: "Say who you are first") ? "refused" : nil
    }
  }

  private static func logins(_ file: String) throws -> [Login] {
    let session = SimulatedPhone(at: file, trust: .system, timeout: .seconds(10)).session
    return try SimulatedPhone.wait { () async throws(DeviceFailure) in try await session.logins() }
  }

  /// Of the login that came last.
  /// - Parameter known: what was open before, behind which one is waited for.
  private static func code(_ file: String, after known: [Login] = []) throws -> String {
    let session = SimulatedPhone(at: file, trust: .system, timeout: .seconds(10)).session
    return try SimulatedPhone.wait { () async throws(DeviceFailure) in
      let login = try await session.login { login in !known.contains(login) }
      return try await session.code(for: login).text
    }
  }
}

/// Somebody with nothing but a terminal.
private final class TelnetVisitor {
  private let socket: Socket
  private let poller: Poller
  private var heard = ""

  init(_ endpoint: Endpoint) throws(SystemError) {
    socket = try Socket.connecting(to: .internet(endpoint))
    poller = try Poller()
    try poller.add(socket, token: 1)
  }

  func type(_ line: String) throws {
    let bytes = Array((line + "\n").utf8)
    // The first line may come before the connection stands.
    let patience = Deadline.after(.seconds(10))
    while case .wouldBlock = socket.send(bytes.span) {
      if patience.hasPassed { throw DemonstrationFailure(description: "the game takes nothing") }
      _ = poller.wait(milliseconds: 100)
    }
  }

  /// True when the game has said it.
  func heard(until text: String) throws -> Bool {
    let patience = Deadline.after(.seconds(10))
    while !heard.contains(text) {
      if patience.hasPassed {
        throw DemonstrationFailure(description: "the game said \(heard.debugDescription)")
      }
      _ = poller.wait(milliseconds: 100)
      var bytes = [UInt8](repeating: 0, count: 4096)
      var span = bytes.mutableSpan
      switch socket.receive(into: &span) {
      case .bytes(let count): heard += String(decoding: bytes[..<count], as: UTF8.self)
      case .wouldBlock: break
      case .ended, .failed: return heard.contains(text)
      }
    }
    return true
  }
}
