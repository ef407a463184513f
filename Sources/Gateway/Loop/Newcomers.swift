/// Handshakes and requests in the order they came, so many a turn; and who of the unadmitted has waited longest.
final class Newcomers {
  /// A handshake step costs up to 0.3 ms, a request up to 0.1 ms: a turn of newcomers stays below a millisecond.
  static let handshakesPerTurn = 2
  static let requestsPerTurn = 4

  /// While so many handshakes wait, nobody else is let in: who waits in the kernel costs nothing, and is not the oldest
  /// of the unadmitted, who has to give way, just when it would be served.
  static let handshakesAhead = 64

  private var handshakes: [Connection] = []
  /// Handshakes that have had their first step, which is the dear one. A flood of first steps does not hold these up.
  private var begunHandshakes: [Connection] = []
  private var requests: [Connection] = []
  private var arrivals = ArrivalOrder()

  /// Asked each turn.
  private(set) var waitingCount = 0
  var isEmpty: Bool { waitingCount == 0 }
  var isFull: Bool { handshakes.count >= Self.handshakesAhead }

  func append(_ connection: Connection) {
    waitingCount += 1
    switch connection.stage {
    // The handshake's first step follows the PROXY header at once.
    case .proxyHeader, .handshake:
      if connection.membership.hasBegunHandshake {
        begunHandshakes.append(connection)
      } else {
        handshakes.append(connection)
      }
    case .exchange, .admission, .session, .lingering, .closed: requests.append(connection)
    }
  }

  func takeTurn() -> [Connection] {
    if isEmpty { return [] }
    var turn = Self.take(Self.requestsPerTurn, of: &requests)
    // One of those that go on, then those that begin; what these leave of the turn is for the former again.
    turn += Self.take(1, of: &begunHandshakes)
    let place = Self.handshakesPerTurn - (turn.last?.membership.hasBegunHandshake ?? false ? 1 : 0)
    let begun = Self.take(place, of: &handshakes)
    turn += begun
    turn += Self.take(place - begun.count, of: &begunHandshakes)
    waitingCount -= turn.count
    return turn
  }

  private static func take(_ count: Int, of list: inout [Connection]) -> [Connection] {
    let taken = Array(list.prefix(count))
    list.removeFirst(taken.count)
    return taken
  }

  func entered(_ connection: Connection, in table: TokenTable<Connection>) {
    arrivals.append(connection.token) { table.find($0)?.membership.isPending ?? false }
  }

  /// The one that has waited longest for its admission, if any.
  func oldestPending(in table: TokenTable<Connection>) -> Connection? {
    arrivals.oldest { table.find($0)?.membership.isPending ?? false }.flatMap { table.find($0) }
  }
}
