/// The examples of docs/policies.md are policies, and mean what the page says.
import ApprovalPolicy
import DeviceWire
import Foundation
import Kit
import Testing

@Suite struct PageTests {
  private static func blocks() throws -> [String] {
    let text = try Repository.text("docs/policies.md")
    return text.components(separatedBy: "```json\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
  }

  @Test func approvals() throws {
    let example = try policy(try #require(try Self.blocks().first))
    let plain = try example.terms(
      for: request("mud.kick"), asked: AskedTerms(lease: LeaseTerms(seconds: 900, uses: 9)))
    #expect(plain.factors == .device && plain.lease == LeaseTerms(seconds: 600, uses: 5) && plain.quorum == 1)
    for target in [[("realm", "production")], []] {
      let strict = try example.terms(for: request("mud.admin.promote", target))
      #expect(strict.factors == [.device, .operator] && strict.quorum == 2 && strict.seconds == 120)
    }
    #expect(try example.terms(for: request("web.deploy")).factors == .operator)
  }

  @Test func classes() throws {
    let bytes = Array(try #require(try Self.blocks().last).utf8)
    let example = try AssurancePolicy(parsing: bytes.span)
    #expect(example.assurance(of: "gandalf").level == .hardwareAttested)
    #expect(example.assurance(of: nil).name == "players")
  }
}
