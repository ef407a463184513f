/// What a loop has counted since the start; other threads read it for `portcullis stats` and for Prometheus (docs/metrics.md).
///
/// Only the loop adds to its counters, so an addition is a load and a store. None of those that rise is ever computed as a
/// difference of two: read while the loop goes on, that could fall for a moment, which Prometheus takes for a new start.
package import Admission
package import PortcullisProtocol
public import Synchronization
package import Time
internal import TelnetWire

/// One thread adds to it, any may read it.
public final class Counter: Sendable {
  @usableFromInline let number: Atomic<Int>

  public init(_ value: Int = 0) {
    number = Atomic(value)
  }

  @inlinable public var value: Int { number.load(ordering: .relaxed) }
  @inlinable public func add(_ amount: Int = 1) { set(number.load(ordering: .relaxed) &+ amount) }
  @inlinable public func set(_ value: Int) { number.store(value, ordering: .relaxed) }
}

package final class Counters: Sendable {
  // MARK: At the door

  package let accepted = Counter()
  /// Closed before the handshake: too many connections, or too many handshakes of one address.
  package let closedAtDoor = Counter()
  /// Unadmitted connections that were closed to make room for newer ones.
  package let evicted = Counter()
  /// Of TLS 1.2 and of TLS 1.3: whole ones, and those that resumed an earlier session.
  package let fullHandshakes12 = Counter()
  package let resumedHandshakes12 = Counter()
  package let fullHandshakes13 = Counter()
  package let resumedHandshakes13 = Counter()
  package let handshakesFailed = Counter()
  /// Those by `HandshakeFailure`, in its order.
  let handshakeFailures = HandshakeFailure.allCases.map { _ in Counter() }
  /// Handshakes that failed and had begun with a PROXY header where none is expected.
  package let unexpectedProxyHeaders = Counter()
  /// Ended for TLS messages without data, or attempts to renegotiate.
  package let tlsRefused = Counter()
  /// By `RateLimit`, in its order.
  package let rateLimited = RateLimit.allCases.map { _ in Counter() }
  /// How many there are in each stage, by `ConnectionState`.
  package let connections = ConnectionState.allCases.map { _ in Counter() }

  // MARK: Requests

  /// Requests with `X-Forwarded-For` of peers whose word on it does not count.
  package let strangersForwardedFor = Counter()
  package let challenges = Counter()
  package let registrations = Counter()
  let registrationsRefused = Counter()
  /// The peer was gone before its answer.
  let registrationsLeft = Counter()
  private let refusals = RefusalCode.allCases.map { _ in Counter() }

  // MARK: Sessions

  package let admitted = Counter()
  package let resumed = Counter()
  let admissionsRefused = Counter()
  /// The peer was gone before its `101`.
  let admissionsLeft = Counter()
  /// From an upgrade's judgement to its `101`.
  package let admissionTimes = DurationHistogram()
  package let sessionsEnded = Counter()
  /// How many there are, by `SessionKind`.
  package let sessions = SessionCounts()
  /// What became of upgrades that name a session, beside those that went on with it.
  package let resumesUnknown = Counter()
  package let resumesLate = Counter()
  /// Messages that an app was told it will never get.
  package let gapMessages = Counter()
  let stallsOfPlayer = Counter()
  let stallsOfGame = Counter()

  // MARK: What goes through

  package let bytesFromPlayers = Counter()
  package let bytesFromGame = Counter()
  /// Of WebSocket, with data.
  package let messagesFromPlayers = Counter()
  package let messagesToPlayers = Counter()
  /// Bytes that wait for a player or for the game.
  package let queued = Counter()
  /// Of apps and of games, where the gate reads what they say.
  package let messagesLeftOut = Counter()
  /// How often an option was agreed on with a game, by `TelnetOption`.
  package let telnetOptions = TelnetOption.allCases.map { _ in Counter() }

  // MARK: The game

  package let gameConnected = Counter()
  let gameRefused = Counter()
  package let gameTimedOut = Counter()
  package let gameFailed = Counter()

  // MARK: The loop

  /// How many handshakes and requests wait for their turn, as of the loop's last turn.
  package let newcomersWaiting = Counter()
  package let turns = TurnHistogram()
  /// The same turns by the bounds that all have.
  package let lag = DurationHistogram()

  package init() {}

  package var handshakes: Int {
    fullHandshakes12.value + fullHandshakes13.value + handshakesResumed
  }

  var handshakesResumed: Int { resumedHandshakes12.value + resumedHandshakes13.value }

  package func refused(_ code: RefusalCode) {
    guard let index = RefusalCode.allCases.firstIndex(of: code) else { return }
    refusals[index].add()
  }

  package func failed(_ failure: HandshakeFailure) {
    handshakesFailed.add()
    handshakeFailures[failure.rawValue].add()
  }

  package func limited(_ limit: RateLimit) { rateLimited[limit.rawValue].add() }

  /// By code, those that occurred.
  package var refusalsByCode: [(code: RefusalCode, count: Int)] {
    refusalsOfAllCodes.filter { $0.count > 0 }
  }

  /// In the order of the codes.
  var refusalsOfAllCodes: [(code: RefusalCode, count: Int)] {
    zip(RefusalCode.allCases, refusals).map { ($0, $1.value) }
  }
}
