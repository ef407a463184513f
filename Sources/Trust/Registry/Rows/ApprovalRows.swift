/// The rows of requests for approvals; of whom they were put to in `ApprovalDeviceRows.swift`.
internal import ApprovalPolicy
internal import Bytes
internal import Crypto
package import DeviceWire
internal import JSON
internal import SQL
internal import System

extension RegistryDatabase {
  /// Times are Unix seconds, as they are signed. `service` is empty for programs of the host. What belongs to a request
  /// goes with it.
  static let approvalTables = """
    CREATE TABLE approvals (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      service BLOB NOT NULL, host_user INTEGER, requester TEXT NOT NULL, subject TEXT,
      summary BLOB NOT NULL,
      factors INTEGER NOT NULL, level INTEGER NOT NULL, verification INTEGER NOT NULL, quorum INTEGER NOT NULL,
      distinct_subjects INTEGER NOT NULL, bars_requester INTEGER NOT NULL, presence INTEGER NOT NULL,
      approvers TEXT, lease_seconds INTEGER, lease_uses INTEGER,
      match_code TEXT NOT NULL,
      created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
      idempotency_key TEXT, idempotency_hash BLOB,
      state INTEGER NOT NULL, ended_at INTEGER, lacks_devices INTEGER NOT NULL, operator INTEGER,
      summary_hash BLOB, operation TEXT
    ) STRICT;
    CREATE INDEX approvals_open ON approvals (expires_at) WHERE state = 0;
    CREATE INDEX approvals_open_of ON approvals (service, requester) WHERE state = 0;
    CREATE INDEX approvals_ended ON approvals (ended_at) WHERE ended_at IS NOT NULL;
    CREATE INDEX approvals_by_key ON approvals (service, idempotency_key) WHERE idempotency_key IS NOT NULL;
    CREATE TABLE approval_devices (
      approval INTEGER NOT NULL REFERENCES approvals (number) ON DELETE CASCADE,
      device BLOB NOT NULL, is_open INTEGER NOT NULL, wrong_codes INTEGER NOT NULL,
      PRIMARY KEY (approval, device)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX approval_devices_open ON approval_devices (device) WHERE is_open = 1;
    \(wholeApprovals)
    """
  /// Ended ones whose summary is there yet.
  static let wholeApprovals = """
    CREATE INDEX approvals_whole ON approvals (ended_at) WHERE ended_at IS NOT NULL AND summary_hash IS NULL
    """

  static let approvalColumns = """
    id, service, host_user, requester, subject, summary, factors, level, verification, quorum, distinct_subjects, \
    bars_requester, presence, approvers, lease_seconds, lease_uses, match_code, created_at, expires_at, \
    idempotency_key, idempotency_hash, state, ended_at, lacks_devices, operator
    """
  /// With what is left of a summary.
  static let readColumns = approvalColumns + ", summary_hash, operation"
  private static let insertApproval = """
    INSERT INTO approvals (\(approvalColumns), number) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
    ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26)
    """
}

extension RegistryDatabase {
  package func approval(_ id: ApprovalID) throws(CallFailure) -> ApprovalRecord? {
    try approvals(where: "id = ?1", [.id(id)]).first
  }

  /// The newest that the service asked for by this key since then.
  package func approval(
    of service: ServiceID, key: String, since: UnixSeconds
  ) throws(CallFailure) -> ApprovalRecord? {
    try approvals(
      where: """
        service = ?1 AND idempotency_key = ?2 AND idempotency_key IS NOT NULL AND created_at > ?3
        ORDER BY number DESC LIMIT 1
        """, [.id(service), .text(key), .integer(since.value)]
    ).first
  }

  /// - Parameter devices: whom it is put to.
  package func insert(
    _ approval: ApprovalRecord, for devices: [DeviceID]
  ) throws(CallFailure) {
    let number = try nextNumber(StoreValue.approvalNumber)
    try run(Self.insertApproval, Self.values(of: approval) + [.integer(number)])
    for device in devices {
      try run(
        "INSERT INTO approval_devices (approval, device, is_open, wrong_codes) VALUES (?1, ?2, 1, 0)",
        [.integer(number), .id(device)])
    }
  }

  package func update(_ approval: ApprovalRecord) throws(CallFailure) {
    try run(
      "UPDATE approvals SET state = ?2, ended_at = ?3, lacks_devices = ?4, operator = ?5 WHERE id = ?1",
      [
        .id(approval.id), .integer(Int64(approval.state.rawValue)),
        .integer(orNull: approval.endedAt?.value), .flag(approval.lacksDevices),
        .integer(orNull: approval.operatorUser.map(Int64.init)),
      ])
  }

  /// The newest first.
  package func approvals(
    in state: ApprovalRecord.State?, limit: Int
  ) throws(CallFailure) -> [ApprovalRecord] {
    let (sql, values) = Self.approvals(in: state, limit: limit)
    return try all(sql, values) { (row) throws(SQLError) in try Self.approval(row) }
  }

  static func approvals(in state: ApprovalRecord.State?, limit: Int) -> (String, [SQLValue]) {
    // Those that wait are few among all that have ended.
    let rows =
      switch state {
      case nil: "approvals"
      case .pending: "approvals \(SQLiteWords.found(by: "approvals_open")) WHERE state = 0"
      case .some(let state): "approvals WHERE state = \(state.rawValue)"
      }
    return (
      "SELECT \(readColumns) FROM \(rows) ORDER BY number DESC LIMIT ?1", [.integer(Int64(limit))]
    )
  }

  /// The newest first, from behind one on; pending ones, or those that are over.
  package func approvals(
    arePending: Bool, after: ApprovalID?, limit: Int
  ) throws(CallFailure) -> [ApprovalRecord] {
    try approvals(
      where: """
        state \(arePending ? "=" : "<>") 0
        AND (CAST(?1 AS BLOB) IS NULL OR number < (SELECT number FROM approvals WHERE id = ?1)) ORDER BY number DESC LIMIT ?2
        """, [.id(orNull: after), .integer(Int64(limit))])
  }

  /// Pending ones.
  package func openApprovals(of service: ServiceID) throws(CallFailure) -> [ApprovalID] {
    try ids("SELECT id FROM approvals WHERE state = 0 AND service = ?1", [.id(service)])
  }

  /// Also those that he has asked for himself.
  package func openApprovals(about subject: Subject) throws(CallFailure) -> [ApprovalID] {
    try ids(
      "SELECT id FROM approvals WHERE state = 0 AND (\(Self.naming))", Self.names(subject))
  }

  /// Pending ones of a requester.
  package func countOpen(of service: ServiceID?, requester: String) throws(CallFailure) -> Int {
    try count(
      "SELECT count(*) FROM approvals WHERE state = 0 AND service = ?1 AND requester = ?2",
      [.service(service), .text(requester)])
  }

  /// Pending ones whose time is over, the oldest first.
  package func overdueApprovals(at now: UnixSeconds, limit: Int) throws(CallFailure) -> [ApprovalID] {
    try ids(
      "SELECT id FROM approvals WHERE state = 0 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2",
      [.integer(now.value), .integer(Int64(limit))])
  }

  /// When the next pending one is over.
  package func nextExpiry() throws(CallFailure) -> UnixSeconds? {
    try first("SELECT expires_at FROM approvals WHERE state = 0 ORDER BY expires_at LIMIT 1") {
      (row) throws(SQLError) in try row.number(0) { UnixSeconds($0) }
    }
  }

  /// Ended ones with all that belongs to them.
  package func deleteApprovals(endedBefore time: UnixSeconds, limit: Int) throws(CallFailure) -> Int {
    try run(
      """
      DELETE FROM approvals WHERE number IN
      (SELECT number FROM approvals WHERE ended_at IS NOT NULL AND ended_at < ?1 ORDER BY ended_at LIMIT ?2)
      """, [.integer(time.value), .integer(Int64(limit))])
  }

  /// Of ended ones whose summary is there yet: its hash and its operation are kept in its place.
  /// - Returns: how many.
  package func shortenApprovals(endedBefore time: UnixSeconds, limit: Int) throws(CallFailure) -> Int {
    let whole = try all(
      """
      SELECT number, summary FROM approvals \(SQLiteWords.found(by: "approvals_whole"))
      WHERE ended_at IS NOT NULL AND summary_hash IS NULL AND ended_at < ?1 ORDER BY ended_at LIMIT ?2
      """, [.integer(time.value), .integer(Int64(limit))]
    ) { (row) throws(SQLError) in (number: try row.integer(0), summary: try row.blob(1)) }
    for row in whole {
      let operation = (try? Summary(canonical: row.summary.span))?.operation
      try run(
        "UPDATE approvals SET summary = ?4, summary_hash = ?2, operation = ?3 WHERE number = ?1",
        [
          .integer(row.number), .hash(SHA256.hash(row.summary.span)), .text(orNull: operation), .blob([]),
        ])
    }
    return whole.count
  }

  /// Those about it, those that it has asked for, what it has reported, and what was reported of it; of others its name
  /// among those who may approve.
  package func deleteApprovals(of subject: Subject) throws(CallFailure) {
    try run("DELETE FROM approvals WHERE \(Self.naming)", Self.names(subject))
    try run("DELETE FROM approval_bars WHERE subject = ?1 OR requester = ?1", [.text(subject.name)])
    try run("DELETE FROM service_reports WHERE subject = ?1", [.text(subject.name)])
    let listed = try all(
      """
      SELECT number, approvers FROM approvals
      WHERE approvers IS NOT NULL AND \(SQLiteWords.place(of: "?1", in: "approvers")) > 0
      """,
      [.text(String(decoding: Self.json(subject.name), as: UTF8.self))]
    ) { (row) throws(SQLError) in
      (number: try row.integer(0), approvers: try row.word(1) { Approvers(stored: $0) })
    }
    for row in listed {
      try run(
        "UPDATE approvals SET approvers = ?2 WHERE number = ?1",
        [.integer(row.number), .text(orNull: row.approvers.without(subject.name).stored)])
    }
  }

  /// Which requests are about somebody, or were asked for by him: as a service's requester, or as a user of the host whose
  /// account has his name, which stands in the summary alone.
  private static let naming =
    "subject = ?1 OR requester = ?1 OR (host_user IS NOT NULL AND \(SQLiteWords.place(of: "?2", in: "summary")) > 0)"

  private static func names(_ subject: Subject) -> [SQLValue] {
    // In canonical form, and nowhere else: what stands in a string has no quotes of its own.
    let end = Array(#""name":"#.utf8) + json(subject.name) + Array(#"},"service":"#.utf8)
    return [.text(subject.name), .blob(end)]
  }

  /// As canonical JSON has it.
  private static func json(_ text: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.value(text)
    return writer.bytes
  }

  // MARK: Rows

  private func approvals(
    where condition: String, _ values: [SQLValue]
  ) throws(CallFailure) -> [ApprovalRecord] {
    try all("SELECT \(Self.readColumns) FROM approvals WHERE \(condition)", values) {
      (row) throws(SQLError) in try Self.approval(row)
    }
  }

  func ids<Kind>(_ sql: String, _ values: [SQLValue]) throws(CallFailure) -> [Identifier<Kind>] {
    try all(sql, values) { (row) throws(SQLError) in try row.id(0) }
  }

  private static func values(of approval: ApprovalRecord) -> [SQLValue] {
    let terms = approval.terms
    return [
      .id(approval.id), .service(approval.service), .integer(orNull: approval.user.map(Int64.init)),
      .text(approval.requester), .text(orNull: approval.subject?.name), .blob(approval.summary),
      .integer(Int64(terms.factors.rawValue)), .integer(terms.level.stored),
      .integer(terms.userVerification.stored), .integer(Int64(terms.quorum)),
      .flag(terms.needsDistinctSubjects), .flag(terms.barsRequester), .flag(terms.needsPresence),
      .text(orNull: terms.approvers.stored), .integer(orNull: (terms.lease?.seconds).map(Int64.init)),
      .integer(orNull: (terms.lease?.uses).map(Int64.init)), .text(approval.matchCode.text),
      .integer(approval.createdAt.value), .integer(approval.expiresAt.value),
      .text(orNull: approval.idempotency?.key), .hash(orNull: approval.idempotency?.asked),
      .integer(Int64(approval.state.rawValue)), .integer(orNull: approval.endedAt?.value),
      .flag(approval.lacksDevices), .integer(orNull: approval.operatorUser.map(Int64.init)),
    ]
  }

  static func approval(_ row: borrowing Row) throws(SQLError) -> ApprovalRecord {
    let created = try row.number(17) { UnixSeconds($0) }
    let expires = try row.number(18) { UnixSeconds($0) }
    let code = try row.word(16) { MatchCode($0) }
    var approval = ApprovalRecord(
      id: try row.id(0), service: try row.service(1), user: try row.user(2), requester: try row.text(3),
      subject: try row.textOrNil(4).flatMap { Subject(stored: $0) }, summary: try row.blob(5),
      terms: try terms(row, digits: code.text.utf8.count, seconds: Int(expires - created)), matchCode: code,
      createdAt: created, expiresAt: expires, idempotency: try idempotency(row))
    approval.state = try row.number(21) { ApprovalRecord.State(rawValue: Int($0)) }
    approval.endedAt = try row.integerOrNil(22).flatMap { UnixSeconds($0) }
    approval.lacksDevices = try row.flag(23)
    approval.operatorUser = try row.user(24)
    if let hash = try row.hashOrNil(25) {
      approval.remains = ApprovalRecord.Remains(summaryHash: hash, operation: try row.textOrNil(26))
    }
    return approval
  }

  private static func terms(
    _ row: borrowing Row, digits: Int, seconds: Int
  ) throws(SQLError) -> ApprovalTerms {
    var lease: LeaseTerms?
    if let seconds = try row.integerOrNil(14), let uses = try row.integerOrNil(15) {
      lease = LeaseTerms(seconds: Int(seconds), uses: Int(uses))
    }
    return ApprovalTerms(
      factors: ApprovalFactors(rawValue: try row.number(6) { UInt8(exactly: $0) }),
      level: try row.number(7) { Level(stored: $0) },
      userVerification: try row.number(8) { UserVerification(stored: $0) }, quorum: Int(try row.integer(9)),
      needsDistinctSubjects: try row.flag(10), barsRequester: try row.flag(11), matchDigits: digits,
      needsPresence: try row.flag(12), seconds: seconds, lease: lease,
      approvers: row.isNull(13) ? Approvers(lists: []) : try row.word(13) { Approvers(stored: $0) })
  }

  private static func idempotency(
    _ row: borrowing Row
  ) throws(SQLError) -> ApprovalRecord.Idempotency? {
    guard let key = try row.textOrNil(19), let hash = try row.hashOrNil(20) else { return nil }
    return ApprovalRecord.Idempotency(key: key, asked: hash)
  }
}

extension SQLValue {
  /// Empty for programs of the host.
  static func service(_ id: ServiceID?) -> SQLValue { .blob(id?.bytes ?? []) }
}

extension Row {
  func service(_ column: Int) throws(SQLError) -> ServiceID? {
    try blob(column).isEmpty ? nil : try id(column)
  }

  func user(_ column: Int) throws(SQLError) -> UInt32? {
    isNull(column) ? nil : try number(column) { UInt32(exactly: $0) }
  }
}

extension Approvers {
  /// The same lists, without this name; an empty list has nobody.
  fileprivate func without(_ name: String) -> Approvers {
    let name = Array(name.utf8)
    return Approvers(lists: lists.map { list in list.filter { $0.text != name } })
  }

  /// Lists of patterns as JSON; nil where there are none.
  var stored: String? {
    guard areStated else { return nil }
    var writer = JSONWriter()
    writer.beginArray()
    for list in lists {
      writer.beginArray()
      for pattern in list { writer.value(String(decoding: pattern.text, as: UTF8.self)) }
      writer.endArray()
    }
    writer.endArray()
    return writer.string
  }

  init?(stored: String) {
    let bytes = Array(stored.utf8)
    guard let value = try? JSONValue(parsing: bytes.span, depthLimit: 2), let lists = value.array else {
      return nil
    }
    self.init(lists: lists.map { ($0.array ?? []).compactMap { $0.string.map { Glob($0) } } })
  }
}
