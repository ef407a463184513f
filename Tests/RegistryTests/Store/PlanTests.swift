/// How the store finds its rows: what an operator asks for holds the registry's thread up, and with it everybody.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import SQLite
import System
import Testing

@testable import Registry

@Suite struct PlanTests {
  private func plan(_ sql: String, _ values: [SQLValue], _ store: SQLiteStore) throws -> String {
    try store.all("EXPLAIN QUERY PLAN \(sql)", values) { row throws(SQLiteError) in try row.text(3) }
      .joined(separator: "; ")
  }

  @Test func leasesOfAServiceAreThoseThatAreOpen() throws {
    let room = try ApprovalRoom()
    let service = ServiceID(random: KernelEntropy())
    let plan = try plan(SQLiteStore.endLeasesOfService, [.id(service), .integer(1)], room.store)
    #expect(plan.contains("leases_open") && !plan.contains("SCAN"), "\(plan)")
  }
}
