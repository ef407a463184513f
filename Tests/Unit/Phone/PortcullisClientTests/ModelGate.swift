/// A slow, obvious gate with a game behind it, for the machine to be tried against: it keeps everything in arrays, and
/// numbers by their positions.
@testable import PortcullisClient

/// What travels over a model's connection, the upgrade and its answer included.
enum Frame: Equatable {
  case upgrade(resume: String?, client: Bool)
  case accepted
  case text(String)
  case binary(String)
  case ping
  case pong
  case close(UInt16)
}

struct ModelGate {
  struct Session {
    var ids: [String]
    /// Inputs in the order they were taken; empty ones take a place and reach nobody.
    var taken: [String] = []
    /// Everything for the app that counts.
    var said: [Frame] = []
    /// How many of `said` the app has acknowledged, so that they are gone.
    var acknowledged = 0
    /// How many of `said` are lost for good, by eviction while detached.
    var evicted = 0
    var sinceAcknowledgement = 0
  }

  /// The one that is attached last; others before it were replaced.
  private(set) var sessions: [Session] = []
  private var current: Int?
  private var nextID = 0
  /// After so many messages of the app it acknowledges.
  var acknowledgesEvery = 3
  /// Whether the connection's first message has come, which voids the older id.
  private var isConfirmed = true

  var attached: Session? { current.map { sessions[$0] } }

  private mutating func newID() -> String {
    nextID += 1
    let digits = String(nextID)
    return String(repeating: "A", count: 22 - digits.count) + digits
  }

  /// A new connection, and what the gate says on it.
  mutating func upgrade(resume: String?) -> [Frame] {
    let id = newID()
    let parts = (resume ?? "").split(separator: ";")
    if parts.count >= 2, let received = Int(parts[1].dropFirst("received=".count)),
      let index = sessions.firstIndex(where: { $0.ids.contains(String(parts[0])) })
    {
      // The named one stays good until the app's first message here.
      sessions[index].ids = [String(parts[0]), id]
      current = index
      isConfirmed = false
      let again = parts.count > 2 ? [Self.again] : []
      return [.accepted, greeting(sessions[index], id, isResumed: true)] + again
        + rest(of: index, after: received)
    }
    sessions.append(Session(ids: [id]))
    current = sessions.count - 1
    isConfirmed = true
    return [.accepted, greeting(sessions[sessions.count - 1], id, isResumed: false)]
  }

  private static let again = Frame.text(#"{"type":"gmcp","package":"Char.Vitals","data":0,"again":true}"#)

  private func greeting(_ session: Session, _ id: String, isResumed: Bool) -> Frame {
    .text(
      """
      {"type":"session","id":"\(id)","resumed":\(isResumed),"received":\(session.taken.count),\
      "resumeFor":600,"maxMessage":65536,"kept":true,"echo":false,"gmcp":false,"msdp":false}
      """)
  }

  private func rest(of index: Int, after received: Int) -> [Frame] {
    let session = sessions[index]
    let lost = max(session.evicted, received)
    var frames: [Frame] = []
    if lost > received {
      frames.append(.text(#"{"type":"gap","messages":\#(lost - received),"next":\#(lost + 1)}"#))
      frames.append(Self.again)
    }
    return frames + session.said[lost...]
  }

  /// The game says something: it is kept, and sent where somebody is attached.
  mutating func say(_ frame: Frame) -> [Frame] {
    guard let current else { return [] }
    sessions[current].said.append(frame)
    return [frame]
  }

  /// Everything is forgotten, as by a gate without a place to keep sessions that starts anew.
  mutating func forgetIDs() {
    for index in sessions.indices { sessions[index].ids = [] }
  }

  mutating func evict() {
    guard let current else { return }
    sessions[current].evicted = sessions[current].said.count
  }

  /// A message of the app's, and what the gate says to it.
  mutating func take(_ frame: Frame) -> [Frame] {
    guard let current else { return [] }
    if !isConfirmed {
      sessions[current].ids.removeFirst()
      isConfirmed = true
    }
    switch frame {
    case .ping: return [.pong]
    case .text(let text) where text.contains(#""type":"ack""#):
      let received = Int(text.filter(\.isNumber)) ?? -1
      precondition(received <= sessions[current].said.count && received >= sessions[current].acknowledged)
      sessions[current].acknowledged = received
      return []
    case .text(let text) where text.contains(#""type":"client""#): return []
    case .text(let input), .binary(let input):
      sessions[current].taken.append(input)
      sessions[current].sinceAcknowledgement += 1
      guard sessions[current].sinceAcknowledgement >= acknowledgesEvery else { return [] }
      return [acknowledgement()]
    case .upgrade, .accepted, .pong, .close: return []
    }
  }

  /// What comes at the latest 5 s after the first message that is not acknowledged.
  mutating func acknowledgement() -> Frame {
    guard let current else { return .close(1011) }
    sessions[current].sinceAcknowledgement = 0
    return .text(#"{"type":"ack","received":\#(sessions[current].taken.count)}"#)
  }
}
