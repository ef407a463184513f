/// What the running gate answers: one JSON object a line, which names its kind in `answer`, or has an `error`
/// (docs/running.md, "Control socket").
package import JSON

package enum ControlAnswer: Equatable, Sendable {
  case health(GateHealth)
  case statistics(GateStatistics)
  /// The latest first.
  case refusals([RefusalSummary])
  case keysStatistics(StoreStatistics)
  case revoked(Revocation)
  case pruned(keys: Int)
  /// So many are new; so many were there before, and are as they were; and whether there was no room for the rest.
  case imported(taken: Int, known: Int, isFull: Bool)
  case sessions([SessionEntry])
  /// How many have ended, and how many had not within the time that was waited.
  case sessionsClosed(ended: Int, left: Int)
  /// Nobody begins to play any more; so many play, and so many are without a connection and may come back.
  case draining(sessions: Int, detached: Int)
  /// Everybody is let in; whether that was otherwise before.
  case undrained(wasDraining: Bool)
  /// All have ended, and nothing of them is kept for a next process.
  case drained(ended: Int)
  /// What the registry says to an order; the verb knows its form.
  case registry(JSONValue)
  /// What comes of an order about the console; the order knows its form.
  case admin(JSONValue)
  case refused(ControlRefusal)
}

package struct Revocation: Equatable, Sendable {
  /// RFC 3339; earlier than now when the key had been revoked before.
  package let revokedAt: String
  package let sessionsEnded: Int
  /// Had not ended within the time that was waited; they have been told to.
  package let sessionsLeft: Int

  package init(revokedAt: String, sessionsEnded: Int, sessionsLeft: Int) {
    self.revokedAt = revokedAt
    self.sessionsEnded = sessionsEnded
    self.sessionsLeft = sessionsLeft
  }
}

/// Why an answer could not be understood: a gate of another version, or something else listens there.
package struct ControlAnswerError: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String
}

extension ControlAnswer {
  private enum Kind: String {
    case health
    case statistics = "stats"
    case refusals
    case keysStatistics = "keys-stats"
    case revoked
    case pruned
    case imported
    case sessions
    case sessionsClosed = "sessions-closed"
    case draining
    case undrained
    case drained
    case registry
    case admin
  }

  /// The object, without the line feed that ends it.
  package var line: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    switch self {
    case .refused(let refusal):
      writer.name("error")
      writer.beginObject()
      writer.member("code", refusal.code.rawValue)
      writer.member("message", refusal.message)
      writer.endObject()
    case .health(let health):
      writer.member("answer", Kind.health.rawValue)
      health.write(to: &writer)
    case .statistics(let statistics):
      writer.member("answer", Kind.statistics.rawValue)
      statistics.write(to: &writer)
    case .refusals(let refusals):
      writer.member("answer", Kind.refusals.rawValue)
      writer.name("refusals")
      writer.beginArray()
      for refusal in refusals { refusal.write(to: &writer) }
      writer.endArray()
    case .keysStatistics(let statistics):
      writer.member("answer", Kind.keysStatistics.rawValue)
      statistics.write(to: &writer)
    case .revoked(let revocation):
      writer.member("answer", Kind.revoked.rawValue)
      writer.member("revokedAt", revocation.revokedAt)
      writer.member("sessionsEnded", revocation.sessionsEnded)
      writer.member("sessionsLeft", revocation.sessionsLeft)
    case .pruned(let keys):
      writer.member("answer", Kind.pruned.rawValue)
      writer.member("keys", keys)
    case .imported(let taken, let known, let isFull):
      writer.member("answer", Kind.imported.rawValue)
      writer.member("taken", taken)
      writer.member("known", known)
      writer.name("isFull")
      writer.value(isFull)
    case .sessions(let sessions):
      writer.member("answer", Kind.sessions.rawValue)
      writer.name("sessions")
      writer.beginArray()
      for session in sessions { session.write(to: &writer) }
      writer.endArray()
    case .sessionsClosed(let ended, let left):
      writer.member("answer", Kind.sessionsClosed.rawValue)
      writer.member("sessionsEnded", ended)
      writer.member("sessionsLeft", left)
    case .draining(let sessions, let detached):
      writer.member("answer", Kind.draining.rawValue)
      writer.member("sessions", sessions)
      writer.member("detached", detached)
    case .undrained(let wasDraining):
      writer.member("answer", Kind.undrained.rawValue)
      writer.name("wasDraining")
      writer.value(wasDraining)
    case .drained(let ended):
      writer.member("answer", Kind.drained.rawValue)
      writer.member("sessionsEnded", ended)
    case .registry(let result):
      writer.member("answer", Kind.registry.rawValue)
      writer.name("result")
      writer.value(result)
    case .admin(let result):
      writer.member("answer", Kind.admin.rawValue)
      writer.name("result")
      writer.value(result)
    }
    writer.endObject()
    return writer.bytes
  }

  /// Members that this version does not know are passed over.
  package init(parsing line: Span<UInt8>) throws(ControlAnswerError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: line, depthLimit: 16)
    } catch {
      throw ControlAnswerError(description: "the answer is not JSON: \(error)")
    }
    guard let object = value.object else {
      throw ControlAnswerError(description: "the answer is not a JSON object")
    }
    if let error = object["error"]?.object {
      let word = try error.text("code")
      guard let code = ControlRefusal.Code(rawValue: word) else {
        throw ControlAnswerError(description: "the answer has an error that is not known here")
      }
      self = .refused(ControlRefusal(code, try error.text("message")))
      return
    }
    guard let kind = Kind(rawValue: try object.text("answer")) else {
      throw ControlAnswerError(description: "the answer is of a kind that is not known here")
    }
    switch kind {
    case .health: self = .health(try GateHealth(object))
    case .statistics: self = .statistics(try GateStatistics(object))
    case .refusals: self = .refusals(try Self.refusals(object))
    case .keysStatistics: self = .keysStatistics(try StoreStatistics(object))
    case .revoked:
      self = .revoked(
        Revocation(
          revokedAt: try object.text("revokedAt"), sessionsEnded: try object.count("sessionsEnded"),
          sessionsLeft: try object.count("sessionsLeft")))
    case .pruned: self = .pruned(keys: try object.count("keys"))
    case .imported:
      guard let isFull = object["isFull"]?.boolean else { throw .missing("isFull") }
      self = .imported(taken: try object.count("taken"), known: try object.count("known"), isFull: isFull)
    case .sessions: self = .sessions(try Self.sessions(object))
    case .sessionsClosed:
      self = .sessionsClosed(ended: try object.count("sessionsEnded"), left: try object.count("sessionsLeft"))
    case .draining:
      self = .draining(sessions: try object.count("sessions"), detached: try object.count("detached"))
    case .undrained:
      guard let was = object["wasDraining"]?.boolean else { throw .missing("wasDraining") }
      self = .undrained(wasDraining: was)
    case .drained: self = .drained(ended: try object.count("sessionsEnded"))
    case .registry:
      guard let result = object["result"] else { throw .missing("result") }
      self = .registry(result)
    case .admin:
      guard let result = object["result"] else { throw .missing("result") }
      self = .admin(result)
    }
  }

  private static func refusals(_ object: JSONObject) throws(ControlAnswerError) -> [RefusalSummary] {
    guard let values = object["refusals"]?.array else { throw .missing("refusals") }
    var refusals: [RefusalSummary] = []
    for value in values {
      guard let object = value.object else { throw .missing("refusals") }
      refusals.append(try RefusalSummary(object))
    }
    return refusals
  }

  private static func sessions(_ object: JSONObject) throws(ControlAnswerError) -> [SessionEntry] {
    guard let values = object["sessions"]?.array else { throw .missing("sessions") }
    var sessions: [SessionEntry] = []
    for value in values {
      guard let object = value.object else { throw .missing("sessions") }
      sessions.append(try SessionEntry(object))
    }
    return sessions
  }
}

// MARK: Members

extension ControlAnswerError {
  static func missing(_ name: String) -> ControlAnswerError {
    ControlAnswerError(description: "the answer has no usable member \(name)")
  }
}

extension JSONWriter {
  mutating func member(_ name: String, _ text: String) {
    self.name(name)
    value(text)
  }

  mutating func member(_ name: String, _ number: some BinaryInteger) {
    self.name(name)
    value(number)
  }

  mutating func member(_ name: String, optional text: String?) {
    if let text { member(name, text) }
  }
}

extension JSONObject {
  func text(_ name: String) throws(ControlAnswerError) -> String {
    guard let text = self[name]?.string else { throw .missing(name) }
    return text
  }

  func count(_ name: String) throws(ControlAnswerError) -> Int {
    guard let count = self[name]?.integer.flatMap({ Int(exactly: $0) }) else { throw .missing(name) }
    return count
  }
}
