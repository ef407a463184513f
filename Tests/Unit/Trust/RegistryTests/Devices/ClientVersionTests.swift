/// What an app says its version is, against the least that its subject's class allows.
import ApprovalPolicy
import PortcullisProtocol
import Testing

@testable import Registry

@Suite struct ClientVersionTests {
  private func part() throws -> DevicePart {
    let registry = try RegistryHarness()
    let policy = Array(
      #"{"classes":[{"name":"staff","match":{"subject":["anna"]},"min_app_version":"2.10"}]}"#.utf8)
    registry.settings.assurance = try AssurancePolicy(parsing: policy.span)
    return DevicePart(registry)
  }

  @Test(
    arguments: [
      (nil, false), ("2.10", false), ("2.10.0.1", false), ("11", false), ("2.9", true), ("2.9.9", true),
      ("1", true), ("", true), ("2.10-beta", true),
    ] as [(String?, Bool)])
  func ofADevice(_ version: String?, isRefused: Bool) throws {
    let part = try part()
    let phone = try part.activePhone("anna")
    let token = try #require(try part.token(phone)["token"])
    part.registry.clientVersion = version
    let expected = isRefused ? "client_version" : nil
    #expect(try part.read(token).step == expected)
    #expect(try part.beat(token, signedBy: phone).step == expected)
    #expect(try part.token(phone).step == expected)
    #expect(try part.rotate(phone, to: TestPhone()).step == expected)
  }

  @Test func ofThoseWhoseClassAsksForNone() throws {
    let part = try part()
    let phone = try part.activePhone("bert")
    part.registry.clientVersion = "0.1"
    #expect(try part.token(phone).code == nil)
    let other = try TestPhone()
    #expect(try part.enroll(other).code == nil)
  }

  /// It has to be somebody's request before it is too old.
  @Test func strangersLearnNothing() throws {
    let part = try part()
    let phone = try part.activePhone("anna")
    part.registry.clientVersion = "1"
    let thief = try TestPhone()
    thief.id = phone.id
    #expect(try part.token(thief).code == .signatureRejected)
    #expect(try part.read("a.b.c").code == .tokenRejected)
  }
}
