import Testing
import WebSocketWire

@testable import Gateway

/// RFC 6455 §7 from the gate's side: every pair of state and event.
@Suite struct ClosingHandshakeTests {
  typealias State = ClosingHandshake.State
  typealias Action = ClosingHandshake.Action

  static let ends: [SessionEnd] = [
    .gameClosed, .gameFailed(reason: "reset"), .playerClosed(.normal), .playerClosed(nil),
    .playerVanished(reason: "gone"), .violation(.protocolError, step: "mask"), .keyRevoked, .replaced,
    .closedByOperator, .draining, .stalled, .silent,
  ]
  static let states: [State] = [.open, .awaitingReply, .done]

  private static func handshake(in state: State) -> ClosingHandshake {
    var handshake = ClosingHandshake()
    switch state {
    case .open: break
    case .awaitingReply: _ = handshake.end(.draining)
    case .done: _ = handshake.end(.silent)
    }
    return handshake
  }

  private static func expected(_ state: State, _ end: SessionEnd) -> (Action, State) {
    switch state {
    case .open:
      switch end {
      case .gameClosed: (.sendClose(.normal, reason: ""), .awaitingReply)
      case .draining: (.sendClose(.goingAway, reason: "the gate is shutting down"), .awaitingReply)
      case .gameFailed: (.closeAndFinish(.internalError, reason: "reset"), .done)
      case .keyRevoked: (.closeAndFinish(.policyViolation, reason: "key revoked"), .done)
      case .replaced: (.closeAndFinish(.policyViolation, reason: "replaced by a newer session"), .done)
      case .closedByOperator: (.closeAndFinish(.policyViolation, reason: "closed by the operator"), .done)
      case .playerClosed(let code): (.closeAndFinish(code, reason: ""), .done)
      case .violation: (.closeAndFinish(.protocolError, reason: ""), .done)
      case .playerVanished, .stalled, .silent: (.finish, .done)
      }
    case .awaitingReply:
      switch end {
      // The one Close that goes out has gone out; the player is heard until it replies or something worse comes.
      case .gameClosed, .draining: (.nothing, .awaitingReply)
      default: (.finish, .done)
      }
    case .done: (.nothing, .done)
    }
  }

  @Test(arguments: states, ends) func pair(state: State, end: SessionEnd) {
    var handshake = Self.handshake(in: state)
    let before = handshake.state
    #expect(before == state)
    let action = handshake.end(end)
    let after = handshake.state
    let expected = Self.expected(state, end)
    #expect(action == expected.0)
    #expect(after == expected.1)
  }

  @Test(arguments: states) func theReplysDeadline(state: State) {
    var handshake = Self.handshake(in: state)
    let action = handshake.expired()
    let after = handshake.state
    switch state {
    case .open, .done:
      #expect(action == .nothing)
      #expect(after == state)
    case .awaitingReply:
      #expect(action == .finish)
      #expect(after == .done)
    }
  }

  @Test(arguments: states) func whatIsDelivered(state: State) {
    let handshake = Self.handshake(in: state)
    let (delivers, isOpen) = (handshake.delivers, handshake.isOpen)
    #expect(delivers == (state != .done))
    #expect(isOpen == (state == .open))
  }

  /// Whatever comes in whatever order, one Close frame goes out at most.
  @Test(arguments: ends, ends) func oneCloseAtMost(first: SessionEnd, second: SessionEnd) {
    var handshake = ClosingHandshake()
    var closes = 0
    for end in [first, second, first, second] {
      switch handshake.end(end) {
      case .sendClose, .closeAndFinish: closes += 1
      case .finish, .nothing: break
      }
    }
    #expect(closes <= 1)
  }
}

@Suite struct SessionEndTests {
  /// SPEC §3, "After 101".
  @Test(
    arguments: [
      (.gameClosed, 1000), (.draining, 1001), (.violation(.protocolError, step: "x"), 1002),
      (.violation(.invalidPayload, step: "x"), 1007), (.keyRevoked, 1008), (.replaced, 1008),
      (.closedByOperator, 1008),
      (.violation(.messageTooBig, step: "x"), 1009), (.gameFailed(reason: "x"), 1011),
      (.playerClosed(CloseCode(4000)), 4000),
      (.playerClosed(nil), nil), (.playerVanished(reason: "x"), nil), (.stalled, nil), (.silent, nil),
    ] as [(SessionEnd, UInt16?)])
  func closeCode(end: SessionEnd, code: UInt16?) {
    #expect(end.closeCode?.rawValue == code)
  }

  @Test(arguments: ClosingHandshakeTests.ends) func onlyWhatMayBeOnTheWire(end: SessionEnd) {
    if let code = end.closeCode { #expect(CloseCode(code.rawValue) == code) }
    #expect(end.closeReason.utf8.count <= 123)
  }

  @Test(arguments: [1005, 1006, 1015] as [UInt16]) func reservedCodesAreNoCodes(code: UInt16) {
    #expect(CloseCode(code) == nil)
    #expect(ControlFrame.close(CloseCode(code)) == [0x88, 0])
  }

  /// Whoever is thrown out, or whose game is gone, must not have another byte reach the game.
  @Test(arguments: ClosingHandshakeTests.ends) func whenTheGameIsCutOff(end: SessionEnd) {
    let expected: Bool =
      switch end {
      case .keyRevoked, .replaced, .closedByOperator, .gameFailed, .stalled, .silent: true
      case .gameClosed, .playerClosed, .playerVanished, .violation, .draining: false
      }
    #expect(end.cutsGameOff == expected)
  }

  @Test func wordsTellThemApart() {
    let words = Set(ClosingHandshakeTests.ends.map(\.word))
    // Both forms of `playerClosed` are one event.
    #expect(words.count == ClosingHandshakeTests.ends.count - 1)
    #expect(words.allSatisfy { $0.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) } })
  }
}
