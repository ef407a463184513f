/// Requests that wait for the registry's thread: the urgent ones first, and round robin over those who ask
/// (docs/devices-operating.md, "The registry").
package import Addresses

/// Whose requests take turns with those of others.
package enum Lane: Hashable, Sendable {
  case address(IPAddress)
  /// By the hash of its token, once that is known to be one.
  case service(ServiceID)
  case host
}

struct RequestQueue<Element> {
  /// All that may wait; revocations have as much again, so that no flood keeps one out.
  static var capacity: Int { 1024 }
  static var capacityOfLane: Int { 64 }

  private struct Turns {
    var lanes: [Lane: [Element]] = [:]
    /// Lanes with something in them; those before `head` had their turn.
    var order: [Lane] = []
    var head = 0

    mutating func append(_ element: Element, _ lane: Lane) {
      if lanes[lane] == nil { order.append(lane) }
      lanes[lane, default: []].append(element)
    }

    mutating func next() -> (Element, Lane)? {
      guard head < order.count else { return nil }
      let lane = order[head]
      head += 1
      guard var waiting = lanes.removeValue(forKey: lane) else { fatalError("a lane in turn has requests") }
      let element = waiting.removeFirst()
      if !waiting.isEmpty {
        lanes[lane] = waiting
        order.append(lane)
      }
      if head > 64, head * 2 > order.count {
        order.removeFirst(head)
        head = 0
      }
      return (element, lane)
    }
  }

  private var turns = [Turns](repeating: Turns(), count: Urgency.allCases.count)
  private var countOfLane: [Lane: Int] = [:]
  private(set) var count = 0
  private var revocations = 0

  var isEmpty: Bool { count == 0 && revocations == 0 }

  /// False when all together, or those of this lane, are as many as may wait.
  mutating func append(_ element: Element, lane: Lane, urgency: Urgency) -> Bool {
    if urgency == .revocation {
      guard revocations < Self.capacity else { return false }
      revocations += 1
    } else {
      guard count < Self.capacity, countOfLane[lane, default: 0] < Self.capacityOfLane else { return false }
      count += 1
      countOfLane[lane, default: 0] += 1
    }
    turns[urgency.rawValue].append(element, lane)
    return true
  }

  mutating func next() -> Element? {
    for urgency in Urgency.allCases {
      guard let (element, lane) = turns[urgency.rawValue].next() else { continue }
      if urgency == .revocation {
        revocations -= 1
      } else {
        count -= 1
        countOfLane[lane] = countOfLane[lane].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
      return element
    }
    return nil
  }
}
