/// The gate in numbers, as `portcullis stats` and `check --health` show it.
package import JSON

package struct GateHealth: Equatable, Sendable {
  package enum Status: String, Sendable {
    case ok
    /// Nobody begins to play: the operator has said so, or the gate stops.
    case draining
  }

  package let status: Status
  package let version: String
  package let process: Int
  package let uptimeSeconds: Int

  package init(status: Status, version: String, process: Int, uptimeSeconds: Int) {
    self.status = status
    self.version = version
    self.process = process
    self.uptimeSeconds = uptimeSeconds
  }

  init(_ object: JSONObject) throws(ControlAnswerError) {
    guard let status = Status(rawValue: try object.text("status")) else { throw .missing("status") }
    self.init(
      status: status, version: try object.text("version"), process: try object.count("pid"),
      uptimeSeconds: try object.count("uptimeSeconds"))
  }

  package func write(to writer: inout JSONWriter) {
    writer.member("status", status.rawValue)
    writer.member("version", version)
    writer.member("pid", process)
    writer.member("uptimeSeconds", uptimeSeconds)
  }
}

/// A number that says itself what it counts.
package struct NamedCount: Equatable, Sendable {
  package let name: String
  package let count: Int

  package init(_ name: String, _ count: Int) {
    self.name = name
    self.count = count
  }
}

package struct GateStatistics: Equatable, Sendable {
  package let health: GateHealth
  /// What there is now: loops, connections, sessions and the like.
  package let gauges: [NamedCount]
  /// What has happened since the start, over all loops.
  package let counters: [NamedCount]
  /// By the code that the peer was told.
  package let refusals: [NamedCount]
  /// By loop.
  package let turns: [TurnStatistics]
  package let store: StoreStatistics

  package init(
    health: GateHealth, gauges: [NamedCount], counters: [NamedCount], refusals: [NamedCount],
    turns: [TurnStatistics], store: StoreStatistics
  ) {
    self.health = health
    self.gauges = gauges
    self.counters = counters
    self.refusals = refusals
    self.turns = turns
    self.store = store
  }

  init(_ object: JSONObject) throws(ControlAnswerError) {
    guard let store = object["store"]?.object else { throw .missing("store") }
    self.init(
      health: try GateHealth(object), gauges: try Self.counts(object, "now"),
      counters: try Self.counts(object, "sinceStart"), refusals: try Self.counts(object, "refusals"),
      turns: try Self.turns(object),
      store: try StoreStatistics(store))
  }

  private static func counts(_ object: JSONObject, _ name: String) throws(ControlAnswerError) -> [NamedCount]
  {
    guard let counts = object[name]?.object else { throw .missing(name) }
    var found: [NamedCount] = []
    for member in counts.members { found.append(NamedCount(member.name, try counts.count(member.name))) }
    return found
  }

  private static func turns(_ object: JSONObject) throws(ControlAnswerError) -> [TurnStatistics] {
    guard let loops = object["turns"]?.array else { throw .missing("turns") }
    var found: [TurnStatistics] = []
    for loop in loops {
      guard let loop = loop.object else { throw .missing("turns") }
      found.append(try TurnStatistics(loop))
    }
    return found
  }

  package func write(to writer: inout JSONWriter) {
    health.write(to: &writer)
    for (name, counts) in [("now", gauges), ("sinceStart", counters), ("refusals", refusals)] {
      writer.name(name)
      writer.beginObject()
      for count in counts { writer.member(count.name, count.count) }
      writer.endObject()
    }
    writer.name("turns")
    writer.beginArray()
    for loop in turns { loop.write(to: &writer) }
    writer.endArray()
    writer.name("store")
    writer.beginObject()
    store.write(to: &writer)
    writer.endObject()
  }
}

extension GateStatistics {
  /// Everything as text: a name and what is to stand behind it.
  package var rows: [(String, String)] {
    var rows = [
      ("status", health.status.rawValue), ("version", health.version), ("pid", "\(health.process)"),
      ("uptimeSeconds", "\(health.uptimeSeconds)"),
    ]
    rows += (gauges + counters).map { ($0.name, "\($0.count)") }
    rows += refusals.map { ("refused.\($0.name)", "\($0.count)") }
    for (index, loop) in turns.enumerated() {
      rows += TurnStatistics.numbers.map { ("loop.\(index).\($0.label)", "\($0.read(loop))") }
    }
    rows.append(("store.service", store.service))
    if let reason = store.reason { rows.append(("store.reason", reason)) }
    rows += store.counts.map { ("store.\($0.name)", "\($0.count)") }
    if let time = store.lastSnapshotAt { rows.append(("store.lastSnapshotAt", time)) }
    return rows
  }
}

package struct StoreStatistics: Equatable, Sendable {
  /// `accepting`, `stalled` or `closed`.
  package let service: String
  /// Why it is stalled.
  package let reason: String?
  package let lastSnapshotAt: String?
  package let counts: [NamedCount]

  package init(service: String, reason: String?, lastSnapshotAt: String?, counts: [NamedCount]) {
    self.service = service
    self.reason = reason
    self.lastSnapshotAt = lastSnapshotAt
    self.counts = counts
  }

  init(_ object: JSONObject) throws(ControlAnswerError) {
    var counts: [NamedCount] = []
    for member in object.members where member.value.integer != nil {
      counts.append(NamedCount(member.name, try object.count(member.name)))
    }
    self.init(
      service: try object.text("service"), reason: object["reason"]?.string,
      lastSnapshotAt: object["lastSnapshotAt"]?.string, counts: counts)
  }

  package func write(to writer: inout JSONWriter) {
    writer.member("service", service)
    writer.member("reason", optional: reason)
    for count in counts { writer.member(count.name, count.count) }
    writer.member("lastSnapshotAt", optional: lastSnapshotAt)
  }
}

/// One session, as `sessions list` shows it.
package struct SessionEntry: Equatable, Sendable {
  /// What it is closed by, whatever connection carries it.
  package let session: Int
  /// `attached` or `detached`.
  package let state: String
  /// For how many seconds it has been so.
  package let since: Int
  /// Nil for a detached one.
  package let connection: String?
  package let source: String
  /// `assertion`, `client_certificate` or `none`.
  package let credential: String
  package let keyID: String?
  /// Of the client certificate: a peer's words.
  package let subject: String?
  /// What was chosen; nil for none.
  package let subprotocol: String?
  /// It outlives the gate's process.
  package let isKept: Bool
  /// Bytes of messages that are kept for the app.
  package let buffered: Int
  package let seconds: Int
  package let bytesFromPlayer: UInt64
  package let bytesFromGame: UInt64

  package init(
    session: Int, state: String, since: Int, connection: String?, subprotocol: String?, isKept: Bool,
    buffered: Int, source: String, credential: String, keyID: String?, subject: String?, seconds: Int,
    bytesFromPlayer: UInt64, bytesFromGame: UInt64
  ) {
    self.session = session
    self.state = state
    self.since = since
    self.connection = connection
    self.subprotocol = subprotocol
    self.isKept = isKept
    self.buffered = buffered
    self.source = source
    self.credential = credential
    self.keyID = keyID
    self.subject = subject
    self.seconds = seconds
    self.bytesFromPlayer = bytesFromPlayer
    self.bytesFromGame = bytesFromGame
  }

  init(_ object: JSONObject) throws(ControlAnswerError) {
    self.init(
      session: try object.count("session"), state: try object.text("state"), since: try object.count("since"),
      connection: object["connection"]?.string, subprotocol: object["subprotocol"]?.string,
      isKept: object["kept"]?.boolean == true, buffered: try object.count("buffered"),
      source: try object.text("source"),
      credential: try object.text("credential"), keyID: object["keyId"]?.string,
      subject: object["subject"]?.string,
      seconds: try object.count("seconds"),
      bytesFromPlayer: UInt64(clamping: try object.count("bytesFromPlayer")),
      bytesFromGame: UInt64(clamping: try object.count("bytesFromGame")))
  }

  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("session", session)
    writer.member("state", state)
    writer.member("since", since)
    writer.member("connection", optional: connection)
    writer.member("subprotocol", optional: subprotocol)
    writer.name("kept")
    writer.value(isKept)
    writer.member("buffered", buffered)
    writer.member("source", source)
    writer.member("credential", credential)
    writer.member("keyId", optional: keyID)
    writer.member("subject", optional: subject)
    writer.member("seconds", seconds)
    writer.member("bytesFromPlayer", bytesFromPlayer)
    writer.member("bytesFromGame", bytesFromGame)
    writer.endObject()
  }
}
