/// A slow, obvious gate with a game behind it: it keeps everything in arrays, and numbers by their positions.

/// What travels over a model's connection, the upgrade and its answer included.
package enum Frame: Equatable, Sendable {
  case upgrade(resume: String?, client: Bool)
  case accepted
  case text(String)
  case binary(String)
  case ping
  case pong
  case close(UInt16)
}

package struct GateModel {
  package struct Session: Sendable {
    package var ids: [String]
    /// Inputs in the order they were taken; empty ones take a place and reach nobody.
    package var taken: [String] = []
    /// Everything for the app that counts.
    package var said: [Frame] = []
    /// How many of `said` the app has acknowledged, so that they are gone.
    package var acknowledged = 0
    /// How many of `said` are lost for good, by eviction while detached.
    package var evicted = 0
    package var sinceAcknowledgement = 0
  }

  /// The one that is attached last; others before it were replaced.
  package private(set) var sessions: [Session] = []
  private var current: Int?
  private var nextID = 0
  /// After so many messages of the app it acknowledges.
  package var acknowledgesEvery = 3
  /// Whether the connection's first message has come, which voids the older id.
  private var isConfirmed = true

  package init() {}

  package var attached: Session? { current.map { sessions[$0] } }

  private mutating func newID() -> String {
    nextID += 1
    let digits = String(nextID)
    return String(repeating: "A", count: 22 - digits.count) + digits
  }

  /// A new connection, and what the gate says on it.
  package mutating func upgrade(resume: String?) -> [Frame] {
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
      "resumeFor":600,"maxMessage":65536,"kept":true,"echo":false,"gmcp":false,"msdp":false,\
      "next":"\(Self.next(after: id))"}
      """)
  }

  /// Whether this stands in place of a challenge for what is resumed.
  /// - Parameter resume: the value of `Portcullis-Resume`.
  package func takes(_ nonce: String, for resume: String?) -> Bool {
    guard let id = resume?.split(separator: ";").first.map(String.init) else { return false }
    return nonce == Self.next(after: id) && sessions.contains { $0.ids.contains(id) }
  }

  /// What stands in place of a challenge for one who resumes by this identifier: 64 hexadecimal digits.
  package static func next(after id: String) -> String {
    let digits = id.utf8.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    return digits + String(repeating: "0", count: 64 - digits.count)
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
  package mutating func say(_ frame: Frame) -> [Frame] {
    guard let current else { return [] }
    sessions[current].said.append(frame)
    return [frame]
  }

  /// Everything is forgotten, as by a gate without a place to keep sessions that starts anew.
  package mutating func forgetIDs() {
    for index in sessions.indices { sessions[index].ids = [] }
  }

  package mutating func evict() {
    guard let current else { return }
    sessions[current].evicted = sessions[current].said.count
  }

  /// A message of the app's, and what the gate says to it.
  package mutating func take(_ frame: Frame) -> [Frame] {
    guard let current else { return [] }
    if !isConfirmed {
      sessions[current].ids.removeFirst()
      isConfirmed = true
    }
    switch frame {
    case .ping: return [.pong]
    case .text(let text) where text.holds(#""type":"ack""#):
      let received = Int(text.filter(\.isNumber)) ?? -1
      precondition(received <= sessions[current].said.count && received >= sessions[current].acknowledged)
      sessions[current].acknowledged = received
      return []
    case .text(let text) where text.holds(#""type":"client""#): return []
    case .text(let input), .binary(let input):
      sessions[current].taken.append(input)
      sessions[current].sinceAcknowledgement += 1
      guard sessions[current].sinceAcknowledgement >= acknowledgesEvery else { return [] }
      return [acknowledgement()]
    case .upgrade, .accepted, .pong, .close: return []
    }
  }

  /// What comes at the latest 5 s after the first message that is not acknowledged.
  package mutating func acknowledgement() -> Frame {
    guard let current else { return .close(1011) }
    sessions[current].sinceAcknowledgement = 0
    return .text(#"{"type":"ack","received":\#(sessions[current].taken.count)}"#)
  }
}

extension String {
  /// iOS 15 has no search of the standard library's own.
  fileprivate func holds(_ part: String) -> Bool {
    let (text, part) = (Array(utf8), Array(part.utf8))
    return text.indices.contains { text[$0...].starts(with: part) }
  }
}
