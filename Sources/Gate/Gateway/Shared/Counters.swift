/// What a loop has counted since the start; other threads read it for `portcullis stats`.
package import PortcullisProtocol
internal import Synchronization

package final class Counter: Sendable {
  private let number: Atomic<Int>

  init(_ value: Int = 0) {
    number = Atomic(value)
  }

  package var value: Int { number.load(ordering: .relaxed) }
  func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }
  func set(_ value: Int) { number.store(value, ordering: .relaxed) }
}

package final class Counters: Sendable {
  package let accepted = Counter()
  /// Closed before the handshake: too many connections, or too many handshakes of one address.
  package let closedAtDoor = Counter()
  /// Unadmitted connections that were closed to make room for newer ones.
  package let evicted = Counter()
  package let handshakes = Counter()
  package let handshakesResumed = Counter()
  package let handshakesFailed = Counter()
  package let challenges = Counter()
  package let registrations = Counter()
  package let admitted = Counter()
  package let resumed = Counter()
  /// Of apps and of games, where the gate reads what they say.
  package let messagesLeftOut = Counter()
  package let sessionsEnded = Counter()
  /// Ended for TLS messages without data, or attempts to renegotiate.
  package let tlsRefused = Counter()
  package let bytesFromPlayers = Counter()
  package let bytesFromGame = Counter()
  /// How many handshakes and requests wait for their turn, as of the loop's last turn.
  package let newcomersWaiting = Counter()
  package let turns = TurnHistogram()
  private let refusals = RefusalCode.allCases.map { _ in Counter() }

  func refused(_ code: RefusalCode) {
    guard let index = RefusalCode.allCases.firstIndex(of: code) else { return }
    refusals[index].add()
  }

  /// By code, those that occurred.
  package var refusalsByCode: [(code: RefusalCode, count: Int)] {
    zip(RefusalCode.allCases, refusals).compactMap { code, counter in
      counter.value > 0 ? (code, counter.value) : nil
    }
  }
}
