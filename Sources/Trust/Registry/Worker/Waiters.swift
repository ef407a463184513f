/// Long polls that wait for something to say: by topic, with bounds for all and for each party.
internal import Time

/// Names a request, so that it can be taken back.
package struct RequestHandle: Hashable, Sendable {
  let number: UInt64
}

struct Waiters {
  typealias Request = Registry.Request

  static let capacity = 5000

  private struct Waiting {
    let request: Request
    let topic: Topic
    let party: Party
    let tick: UInt64
    let otherwise: Reply
  }

  /// Deadlines are rounded up to it, so that a look at the earliest is one at a few hundred.
  private static let tick: UInt64 = 100_000_000

  private var waiting: [RequestHandle: Waiting] = [:]
  private var ticks: [UInt64: Set<RequestHandle>] = [:]
  private var handles: [Topic: Set<RequestHandle>] = [:]
  private var counts: [Party: Int] = [:]

  var count: Int { waiting.count }
  /// When the first of them has waited long enough.
  var nextDeadline: MonotonicTime {
    ticks.keys.min().map { MonotonicTime(nanoseconds: $0 * Self.tick) } ?? .never
  }

  /// False when there are as many as may wait, so that it is to be answered at once.
  mutating func add(
    _ request: Request, on topic: Topic, by party: Party, until deadline: MonotonicTime, otherwise: Reply
  ) -> Bool {
    let handle = request.handle
    guard waiting.count < Self.capacity, counts[party, default: 0] < party.capacity else { return false }
    let tick = deadline.nanoseconds / Self.tick + (deadline.nanoseconds % Self.tick == 0 ? 0 : 1)
    waiting[handle] = Waiting(request: request, topic: topic, party: party, tick: tick, otherwise: otherwise)
    ticks[tick, default: []].insert(handle)
    handles[topic, default: []].insert(handle)
    counts[party, default: 0] += 1
    return true
  }

  /// All that wait for the topic, which wait no longer; in the order in which they came.
  mutating func wake(_ topic: Topic) -> [Request] {
    (handles[topic] ?? []).sorted { $0.number < $1.number }.compactMap { remove($0)?.request }
  }

  /// Likewise all of them.
  mutating func wakeAll() -> [Request] {
    waiting.keys.sorted { $0.number < $1.number }.compactMap { remove($0)?.request }
  }

  /// Those that have waited long enough, with what they are told.
  mutating func expire(at now: MonotonicTime) -> [(Request, Reply)] {
    end(ticks.filter { $0.key <= now.nanoseconds / Self.tick }.flatMap(\.value))
  }

  /// All of them.
  mutating func end() -> [(Request, Reply)] { end(Array(waiting.keys)) }

  /// False when it does not wait.
  mutating func cancel(_ handle: RequestHandle) -> Bool { remove(handle) != nil }

  private mutating func end(_ ended: [RequestHandle]) -> [(Request, Reply)] {
    ended.sorted { $0.number < $1.number }.compactMap { handle in
      remove(handle).map { ($0.request, $0.otherwise) }
    }
  }

  private mutating func remove(_ handle: RequestHandle) -> Waiting? {
    guard let found = waiting.removeValue(forKey: handle) else { return nil }
    handles[found.topic]?.remove(handle)
    if handles[found.topic]?.isEmpty == true { handles[found.topic] = nil }
    ticks[found.tick]?.remove(handle)
    if ticks[found.tick]?.isEmpty == true { ticks[found.tick] = nil }
    counts[found.party] = counts[found.party].flatMap { $0 > 1 ? $0 - 1 : nil }
    return found
  }
}

extension Party {
  /// How many of its long polls may wait at once.
  var capacity: Int {
    switch self {
    case .device: 2
    case .service: 64
    case .pairing: 2
    case .process: 8
    }
  }
}
