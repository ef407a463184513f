/// Handshakes and requests in the order they came, so many a turn; and who of the unadmitted has waited longest.
struct Newcomers {
  /// A handshake step costs up to 0.3 ms, a request up to 0.1 ms: a turn of newcomers stays below a millisecond.
  static let handshakesPerTurn = 2
  static let requestsPerTurn = 4

  private var handshakes: [Connection] = []
  private var requests: [Connection] = []
  /// In order of their arrival. Nobody stays unadmitted for long, so those in front of the oldest are soon dropped.
  private var arrivals: [Token] = []
  private var firstArrival = 0

  var isEmpty: Bool { handshakes.isEmpty && requests.isEmpty }

  mutating func append(_ connection: Connection) {
    if connection.stage == .handshake { handshakes.append(connection) } else { requests.append(connection) }
  }

  mutating func takeTurn() -> [Connection] {
    if isEmpty { return [] }
    let turn = Array(requests.prefix(Self.requestsPerTurn) + handshakes.prefix(Self.handshakesPerTurn))
    requests.removeFirst(min(Self.requestsPerTurn, requests.count))
    handshakes.removeFirst(min(Self.handshakesPerTurn, handshakes.count))
    return turn
  }

  mutating func entered(_ connection: Connection, in table: ConnectionTable) {
    _ = oldestPending(in: table)
    arrivals.append(connection.token)
  }

  /// The one that has waited longest for its admission, if any.
  mutating func oldestPending(in table: ConnectionTable) -> Connection? {
    while firstArrival < arrivals.count {
      if let connection = table.find(arrivals[firstArrival]), connection.isPending { return connection }
      firstArrival += 1
      if firstArrival >= 4096, firstArrival > arrivals.count / 2 {
        arrivals.removeFirst(firstArrival)
        firstArrival = 0
      }
    }
    arrivals.removeAll(keepingCapacity: arrivals.capacity <= 4096)
    firstArrival = 0
    return nil
  }
}
