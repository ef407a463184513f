import TLS
import TLS
import Testing
import WebSocketWire

@testable import Admission
@testable import Gateway

/// RFC 6455 §7 from the gate's side: every pair of state and event.
@Suite struct ClosingHandshakeTests {
  typealias State = ClosingHandshake.State
  typealias Action = ClosingHandshake.Action

  static let ends: [ConnectionEnd] = [
    .session(.gameClosed), .session(.gameFailed(reason: "reset")), .playerClosed(.normal), .playerClosed(nil),
    .playerVanished(reason: "gone"), .violation(.protocolError, step: "mask"), .session(.keyRevoked),
    .session(.replaced), .session(.closedByOperator), .session(.draining), .tlsExcess(.messages),
    .playerStalled,
    .session(.gameStalled), .session(.expired), .session(.letGo), .silent, .left, .takenOver, .restarting,
    .malformed(step: "message_no_type"),
  ]
  static let states: [State] = [.open, .awaitingReply, .done]

  private static func handshake(in state: State) -> ClosingHandshake {
    var handshake = ClosingHandshake()
    switch state {
    case .open: break
    case .awaitingReply: _ = handshake.end(.session(.draining))
    case .done: _ = handshake.end(.silent)
    }
    return handshake
  }

  private static func expected(_ state: State, _ end: ConnectionEnd) -> (Action, State) {
    switch state {
    case .open:
      switch end {
      case .session(.gameClosed): (.sendClose(.normal, reason: ""), .awaitingReply)
      case .session(.draining): (.sendClose(.goingAway, reason: "the gate is shutting down"), .awaitingReply)
      case .session(.gameFailed): (.closeAndFinish(.internalError, reason: "reset"), .done)
      case .session(.keyRevoked): (.closeAndFinish(.policyViolation, reason: "key revoked"), .done)
      case .session(.replaced):
        (.closeAndFinish(.policyViolation, reason: "replaced by a newer session"), .done)
      case .session(.closedByOperator):
        (.closeAndFinish(.policyViolation, reason: "closed by the operator"), .done)
      case .left: (.closeAndFinish(CloseCode(4000), reason: "left"), .done)
      case .takenOver: (.closeAndFinish(CloseCode(4001), reason: "taken_over"), .done)
      case .restarting: (.closeAndFinish(CloseCode(1012), reason: "restarting"), .done)
      case .malformed: (.closeAndFinish(CloseCode(4002), reason: "malformed"), .done)
      case .playerClosed(let code): (.closeAndFinish(code, reason: ""), .done)
      case .violation: (.closeAndFinish(.protocolError, reason: ""), .done)
      case .playerVanished, .tlsExcess, .playerStalled, .silent, .session(.gameStalled), .session(.expired),
        .session(.letGo):
        (.finish, .done)
      }
    case .awaitingReply:
      switch end {
      // The one Close that goes out has gone out; the player is heard until it replies or something worse comes.
      case .session(.gameClosed), .session(.draining): (.nothing, .awaitingReply)
      default: (.finish, .done)
      }
    case .done: (.nothing, .done)
    }
  }

  @Test(arguments: states, ends) func pair(state: State, end: ConnectionEnd) {
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

  /// A game that has closed its side has no use for what comes then, whichever end came first.
  @Test(
    arguments: [[.session(.gameClosed)], [.session(.draining), .session(.gameClosed)]] as [[ConnectionEnd]])
  func nothingIsDeliveredToAGameThatHasClosed(ends: [ConnectionEnd]) {
    var handshake = ClosingHandshake()
    for end in ends { _ = handshake.end(end) }
    let (delivers, state) = (handshake.delivers, handshake.state)
    #expect(!delivers)
    #expect(state == .awaitingReply)
  }

  /// Whatever comes in whatever order, one Close frame goes out at most.
  @Test(arguments: ends, ends) func oneCloseAtMost(first: ConnectionEnd, second: ConnectionEnd) {
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
  /// docs/protocol.md, "Close codes".
  @Test(
    arguments: [
      (.session(.gameClosed), 1000), (.session(.draining), 1001),
      (.violation(.protocolError, step: "x"), 1002),
      (.violation(.invalidPayload, step: "x"), 1007), (.session(.keyRevoked), 1008),
      (.session(.replaced), 1008),
      (.session(.closedByOperator), 1008), (.session(.gameStalled), nil),
      (.violation(.messageTooBig, step: "x"), 1009), (.session(.gameFailed(reason: "x")), 1011),
      (.playerClosed(CloseCode(4000)), 4000),
      (.playerClosed(nil), nil), (.playerVanished(reason: "x"), nil), (.tlsExcess(.messages), nil),
      (.playerStalled, nil), (.silent, nil),
    ] as [(ConnectionEnd, UInt16?)])
  func closeCode(end: ConnectionEnd, code: UInt16?) {
    #expect(end.closeCode?.rawValue == code)
  }

  @Test(arguments: ClosingHandshakeTests.ends) func onlyWhatMayBeOnTheWire(end: ConnectionEnd) {
    if let code = end.closeCode { #expect(CloseCode(code.rawValue) == code) }
    #expect(end.closeReason.utf8.count <= 123)
  }

  @Test(arguments: [1005, 1006, 1015] as [UInt16]) func reservedCodesAreNoCodes(code: UInt16) {
    #expect(CloseCode(code) == nil)
    #expect(ControlFrame.close(CloseCode(code)) == [0x88, 0])
  }

  /// Whoever is thrown out, or whose game is gone, must not have another byte reach the game.
  @Test(arguments: ClosingHandshakeTests.ends) func whenTheGameIsCutOff(end: ConnectionEnd) {
    let expected: Bool =
      switch end {
      case .session(.keyRevoked), .session(.replaced), .session(.closedByOperator), .session(.gameFailed),
        .session(.gameStalled), .session(.expired), .session(.letGo), .tlsExcess, .playerStalled, .silent:
        true
      case .session(.gameClosed), .session(.draining), .playerClosed, .playerVanished, .violation, .left,
        .takenOver, .restarting, .malformed:
        false
      }
    #expect(end.cutsGameOff == expected)
  }

  @Test func wordsTellThemApart() {
    let words = Set(ClosingHandshakeTests.ends.map(\.word))
    // Both forms of `playerClosed` are one event, and `write_stalled` is said of either side.
    #expect(words.count == ClosingHandshakeTests.ends.count - 2)
    #expect(words.allSatisfy { $0.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) } })
  }
}
