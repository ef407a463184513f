/// How the store finds its rows: what an operator asks for holds the registry's thread up, and with it everybody.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import SQL
import SQLite
import Time
import Testing

@testable import Registry

@Suite struct PlanTests {
  private func plan(_ sql: String, _ values: [SQLValue], _ store: RegistryDatabase) throws -> String {
    try store.all("EXPLAIN QUERY PLAN \(sql)", values) { row throws(SQLError) in try row.text(3) }
      .joined(separator: "; ")
  }

  @Test func leasesOfAServiceAreThoseThatAreOpen() throws {
    let part = try ApprovalPart()
    let service = ServiceID(random: KernelEntropy())
    let plan = try plan(RegistryDatabase.endLeasesOfService, [.id(service), .integer(1)], part.store)
    #expect(plan.contains("leases_open") && !plan.contains("SCAN"), "\(plan)")
  }

  /// A serial that is on a list is looked for in an index, and so is whoever has it.
  @Test func devicesOfASerial() throws {
    let part = try ApprovalPart()
    let plan = try plan(RegistryDatabase.devicesOfSerial, [.blob([1]), .integer(2)], part.store)
    for index in ["android_chains_by_serial", "android_chains_by_rest", "devices_by_chain"] {
      #expect(
        plan.contains("USING INDEX \(index)") || plan.contains("USING COVERING INDEX \(index)"), "\(plan)")
    }
    // Of what was found alone.
    #expect(plan.split(separator: "SCAN ").dropFirst().allSatisfy { $0.hasPrefix("b") }, "\(plan)")
  }

  @Test func approvalsThatWaitAreThoseThatAreOpen() throws {
    let part = try ApprovalPart()
    let (sql, values) = RegistryDatabase.approvals(in: .pending, limit: 10)
    let plan = try plan(sql, values, part.store)
    #expect(plan.contains("SCAN approvals USING INDEX approvals_open"), "\(plan)")
  }

  @Test func howManyThereAreIsReadFromAFewRows() throws {
    let part = try ApprovalPart()
    let plan = try plan(RegistryDatabase.countedRows, [], part.store)
    #expect(plan.contains("SCAN main.tallies") && plan.contains("SCAN temp.endings"), "\(plan)")
    #expect(!plan.contains("devices") && !plan.contains("approvals") && !plan.contains("code"), "\(plan)")
  }

  @Test func approvalsByTheirState() throws {
    let part = try ApprovalPart(policy: #"{"DEFAULT":{"ttl_s":60}}"#)
    let (service, other) = (try part.service(), try part.service("web"))
    let phone = try part.phone(of: "frodo")
    var ids: [ApprovalID] = []
    for number in 0..<6 {
      let asked = try part.ask(number < 4 ? service : other, requester: "r\(number)")
      ids.append(try asked.approval)
      // Every other one ends.
      if number.isMultiple(of: 2) { #expect(try part.vote(phone, on: asked, .deny)["state"] == "denied") }
    }
    func listed(_ state: ApprovalRecord.State?, _ limit: Int = 10) throws -> [ApprovalID] {
      try part.store.approvals(in: state, limit: limit).map(\.id)
    }
    #expect(try listed(nil) == ids.reversed())
    #expect(try listed(nil, 2) == [ids[5], ids[4]])
    #expect(try listed(.pending) == [ids[5], ids[3], ids[1]])
    #expect(try listed(.pending, 2) == [ids[5], ids[3]])
    #expect(try listed(.denied) == [ids[4], ids[2], ids[0]])
    #expect(try listed(.denied, 1) == [ids[4]])
    #expect(try listed(.approved) == [])
  }
}
