/// Whom somebody has reported: requesters, and services that were reported again and again.
package import DeviceWire
internal import SQL

extension RegistryDatabase {
  /// Bars lie with `voteTables`: an empty requester is the service as a whole. A report goes with its time.
  static let reportTables = """
    CREATE INDEX approval_bars_of ON approval_bars (service, subject);
    CREATE TABLE service_reports (
      number INTEGER PRIMARY KEY, service BLOB NOT NULL, subject TEXT NOT NULL, at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX service_reports_of ON service_reports (service, subject)
    """
}

extension RegistryDatabase {
  package func bars(of service: ServiceID?, for subject: Subject) throws(CallFailure) -> [BarRecord] {
    try bars("WHERE service = ?1 AND subject = ?2", [.service(service), .text(subject.name)])
  }

  package func insert(_ bar: BarRecord) throws(CallFailure) {
    try run(
      """
      INSERT INTO approval_bars (service, requester, subject, at) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (service, requester, subject) DO UPDATE SET at = excluded.at
      """,
      [
        .service(bar.service), .text(bar.requester ?? ""), .text(bar.subject.name), .integer(bar.at.value),
      ])
  }

  package func bars() throws(CallFailure) -> [BarRecord] { try bars("ORDER BY at", []) }

  private func bars(_ condition: String, _ values: [SQLValue]) throws(CallFailure) -> [BarRecord] {
    try all("SELECT service, requester, subject, at FROM approval_bars \(condition)", values) {
      (row) throws(SQLError) in
      let requester = try row.text(1)
      return BarRecord(
        service: try row.service(0), requester: requester.isEmpty ? nil : requester,
        subject: try row.word(2) { Subject(stored: $0) }, at: try row.number(3) { UnixSeconds($0) })
    }
  }

  /// False when there is none. With a service's own bar its reports are forgiven.
  package func deleteBar(
    of requester: String?, of service: ServiceID?, for subject: Subject
  ) throws(CallFailure) -> Bool {
    let values: [SQLValue] = [.service(service), .text(subject.name)]
    // What it was barred for is forgiven with the bar.
    if requester == nil {
      try run("DELETE FROM service_reports WHERE service = ?1 AND subject = ?2", values)
    }
    return try run(
      "DELETE FROM approval_bars WHERE service = ?1 AND subject = ?2 AND requester = ?3",
      values + [.text(requester ?? "")]) > 0
  }

  /// One more report; those before `since` count no more.
  /// - Returns: how many there are.
  package func countReport(
    of service: ServiceID, by subject: Subject, at now: UnixSeconds, since: UnixSeconds
  ) throws(CallFailure) -> Int {
    let values: [SQLValue] = [.id(service), .text(subject.name)]
    try run(
      "DELETE FROM service_reports WHERE service = ?1 AND subject = ?2 AND at < ?3",
      values + [.integer(since.value)])
    try run(
      "INSERT INTO service_reports (service, subject, at) VALUES (?1, ?2, ?3)",
      values + [.integer(now.value)])
    return try count("SELECT count(*) FROM service_reports WHERE service = ?1 AND subject = ?2", values)
  }
}
