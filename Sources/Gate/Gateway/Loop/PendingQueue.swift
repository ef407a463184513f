/// Handshakes and requests in the order they came, so many a turn; and who of the unadmitted has waited longest.
internal import Scheduling

/// What somebody waits for among the pendingQueue.
enum PendingStep {
  /// A handshake's first step, which is the dear one.
  case firstOfHandshake
  case nextOfHandshake
  case request
  /// By one whose last turn used up his share.
  case heavyRequest
}

/// A loop's newcomers are connections; a test's are what it likes.
final class PendingQueue<Element> {
  /// A handshake step costs up to 0.3 ms, a request up to 0.1 ms: a turn of newcomers stays below a millisecond.
  static var handshakesPerTurn: Int { 2 }
  static var requestsPerTurn: Int { 4 }

  /// While so many handshakes wait, nobody else is accepted: who waits in the kernel's queue costs nothing, while who
  /// is accepted too early may be evicted, as the oldest of the unadmitted, just when its turn comes.
  static var handshakesAhead: Int { 64 }

  private var handshakes: [Element] = []
  /// Handshakes that have had their first step. A flood of first steps does not hold these up.
  private var begunHandshakes: [Element] = []
  private var requests: [Element] = []
  /// Of those who used up their share of their last turn and have more: one a turn, so that they wait for each other
  /// and nobody else for them.
  private var heavyRequests: [Element] = []
  private var arrivals = ArrivalOrder()

  private(set) var waitingCount = 0
  var isEmpty: Bool { waitingCount == 0 }
  var isFull: Bool { handshakes.count >= Self.handshakesAhead }

  func append(_ newcomer: Element, for step: PendingStep) {
    waitingCount += 1
    switch step {
    case .firstOfHandshake: handshakes.append(newcomer)
    case .nextOfHandshake: begunHandshakes.append(newcomer)
    case .request: requests.append(newcomer)
    case .heavyRequest: heavyRequests.append(newcomer)
    }
  }

  /// Lets go of all of them.
  func forget() {
    (handshakes, begunHandshakes, requests, heavyRequests) = ([], [], [], [])
    waitingCount = 0
  }

  func takeTurn() -> [Element] {
    if isEmpty { return [] }
    var turn = Self.take(Self.requestsPerTurn, of: &requests) + Self.take(1, of: &heavyRequests)
    // One handshake under way, then new ones; the places that these leave are for more of those under way.
    var place = Self.handshakesPerTurn
    let goingOn = Self.take(1, of: &begunHandshakes)
    place -= goingOn.count
    let begun = Self.take(place, of: &handshakes)
    place -= begun.count
    turn += goingOn + begun + Self.take(place, of: &begunHandshakes)
    waitingCount -= turn.count
    return turn
  }

  private static func take(_ count: Int, of list: inout [Element]) -> [Element] {
    let taken = Array(list.prefix(count))
    list.removeFirst(taken.count)
    return taken
  }
}

extension PendingQueue where Element == Connection {
  func append(_ connection: Connection) {
    switch connection.stage {
    // The handshake's first step follows the PROXY header at once.
    case .proxyHeader, .handshake:
      append(connection, for: connection.queueFlags.hasBegunHandshake ? .nextOfHandshake : .firstOfHandshake)
    case .exchange, .admission, .session, .lingering, .closed:
      append(connection, for: connection.queueFlags.isHeavy ? .heavyRequest : .request)
    }
  }

  func entered(_ connection: Connection, in table: TokenTable<Connection>) {
    connection.queueFlags.isListed = true
    arrivals.append(connection.token) { Self.isPending($0, in: table) }
  }

  /// The one that has waited longest for its admission, if any.
  func oldestPending(in table: TokenTable<Connection>) -> Connection? {
    arrivals.oldest { Self.isPending($0, in: table) }.flatMap { table.find($0) }
  }

  /// Who is not pending is dropped from the list, and has to be entered again when it is.
  private static func isPending(_ token: Token, in table: TokenTable<Connection>) -> Bool {
    guard let connection = table.find(token) else { return false }
    connection.queueFlags.isListed = connection.queueFlags.isPending
    return connection.queueFlags.isPending
  }
}
