/// What docs/risk.md shows is a policy, and its table has all the reasons.
import ApprovalPolicy
import Foundation
import Kit
import Risk
import Testing

@Suite struct DocumentTests {
  private static func page() throws -> String {
    try Repository.text("docs/risk.md")
  }

  @Test func thePolicyIsOne() throws {
    let blocks = try Self.page().components(separatedBy: "```json\n").dropFirst()
    let policies = blocks.compactMap { $0.components(separatedBy: "\n```").first }.filter {
      $0.contains("weights")
    }
    #expect(policies.count == 1)
    for policy in policies {
      let read = try RiskPolicy(parsing: Array(policy.utf8).span)
      #expect(read.presenceBand == 40 && read.denyBand == 90 && read.minimumPatch == 202_501)
      #expect(!read.isEnforced)
    }
  }

  @Test func allReasonsInTheirOrder() throws {
    let page = try Self.page()
    let start = try #require(page.range(of: "## Reasons")).lowerBound
    let places = try RiskReason.allCases.map { reason in
      try #require(page.range(of: "`\(reason.rawValue)`", range: start..<page.endIndex)).lowerBound
    }
    #expect(places == places.sorted())
  }
}
