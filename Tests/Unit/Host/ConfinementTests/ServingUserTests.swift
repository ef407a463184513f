import System
import Testing

@testable import Confinement

@Suite struct ServingUserTests {
  @Test func names() throws {
    let root = try ServingUser.find(user: "root", group: nil)
    #expect(root.user == 0 && root.group == 0 && root.groups.contains(0) && root.name == "root")
    let nobody = try ServingUser.find(user: "nobody", group: "daemon")
    #expect(nobody.user == 65_534 && nobody.group == 1)
    #expect(nobody.groups.contains(1) && nobody.account.groups.contains(1))
  }

  @Test func numbers() throws {
    // With an account, its group and name; without one, nothing but what is said.
    #expect(try ServingUser.find(user: "65534", group: nil) == ServingUser.find(user: "nobody", group: nil))
    let stranger = try ServingUser.find(user: "54321", group: "54322")
    #expect(stranger == ServingUser(name: "54321", user: 54_321, group: 54_322, groups: [54_322]))
  }

  @Test(
    arguments: [
      ("no-such-user", nil, ServingProblem.unknownUser("no-such-user")),
      ("root", "no-such-group", .unknownGroup("no-such-group")), ("54321", nil, .groupMissing("54321")),
      ("4294967295", "1", .unknownUser("4294967295")), ("-1", "1", .unknownUser("-1")),
      ("root", "4294967295", .unknownGroup("4294967295")),
    ])
  func nobody(_ user: String, _ group: String?, _ problem: ServingProblem) {
    #expect(throws: problem) { try ServingUser.find(user: user, group: group) }
    #expect(problem.description.hasPrefix("RUN_AS"))
  }

  private func decide(
    as user: UInt32, _ wanted: (String, String?)?, isProduction: Bool = true
  ) throws(ServingProblem) -> ServingDecision {
    try ServingDecision.make(
      effectiveUser: user, effectiveGroup: user, wanted: wanted, isProduction: isProduction)
  }

  @Test func root() throws {
    #expect(throws: ServingProblem.rootInProduction) { try decide(as: 0, nil) }
    #expect(try decide(as: 0, nil, isProduction: false) == .staysRoot(isStated: false))
    #expect(try decide(as: 0, ("root", nil)) == .staysRoot(isStated: true))
    #expect(try decide(as: 0, ("0", nil)) == .staysRoot(isStated: true))
    let nobody = try ServingUser.find(user: "nobody", group: nil)
    #expect(try decide(as: 0, ("nobody", nil)) == .becomes(nobody))
  }

  @Test func others() throws {
    #expect(try decide(as: 65_534, nil) == .asStarted)
    #expect(try decide(as: 65_534, ("nobody", nil)) == .asStarted)
    #expect(try decide(as: 65_534, ("nobody", "65534")) == .asStarted)
    #expect(try decide(as: 54_321, ("54321", nil)) == .asStarted)
    #expect(throws: ServingProblem.self) { try decide(as: 65_534, ("root", nil)) }
    #expect(throws: ServingProblem.self) { try decide(as: 65_534, ("nobody", "daemon")) }
    #expect(throws: ServingProblem.self) { try decide(as: 54_321, ("nobody", nil)) }
  }
}
