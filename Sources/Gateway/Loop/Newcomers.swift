/// Handshakes and requests in the order they came, so many a turn; and who of the unadmitted has waited longest.
final class Newcomers {
  /// A handshake step costs up to 0.3 ms, a request up to 0.1 ms: a turn of newcomers stays below a millisecond.
  static let handshakesPerTurn = 2
  static let requestsPerTurn = 4

  private var handshakes: [Connection] = []
  private var requests: [Connection] = []
  private var arrivals = ArrivalOrder()

  /// Asked each turn.
  private(set) var isEmpty = true

  func append(_ connection: Connection) {
    isEmpty = false
    switch connection.stage {
    // The handshake's first step follows the PROXY header at once.
    case .proxyHeader, .handshake: handshakes.append(connection)
    case .exchange, .admission, .session, .lingering, .closed: requests.append(connection)
    }
  }

  func takeTurn() -> [Connection] {
    if isEmpty { return [] }
    let turn = Array(requests.prefix(Self.requestsPerTurn) + handshakes.prefix(Self.handshakesPerTurn))
    requests.removeFirst(min(Self.requestsPerTurn, requests.count))
    handshakes.removeFirst(min(Self.handshakesPerTurn, handshakes.count))
    isEmpty = handshakes.isEmpty && requests.isEmpty
    return turn
  }

  func entered(_ connection: Connection, in table: ConnectionTable) {
    arrivals.append(connection.token) { table.find($0)?.isPending ?? false }
  }

  /// The one that has waited longest for its admission, if any.
  func oldestPending(in table: ConnectionTable) -> Connection? {
    arrivals.oldest { table.find($0)?.isPending ?? false }.flatMap { table.find($0) }
  }
}
