/// `AppAttestor` with each answer that App Attest may give.
@testable internal import AppleClient
internal import AppleDeviceCheck
internal import AppleFoundation
internal import Bytes
internal import Crypto
internal import Device
internal import Testing
internal import Time

@Suite struct AppAttestorTests {
  private let phone = AppleDevice()
  private var appAttest: FakeAppAttest { phone[FakeAppAttest.self] }
  private let challenge = [UInt8](repeating: 7, count: 32)

  @Test func aKeyIsMadeAttestedAndUsed() async throws {
    appAttest.begin(try .create(now: SystemClock().wall()), appID: "ABCDE12345.org.example.game")
    try await phone.run {
      let attestor = AppAttestor()
      let keyID = try await attestor.makeKey()
      #expect(try await !attestor.attest(keyID, challenge: challenge).isEmpty)
      #expect(try await !attestor.assert(keyID, challenge: challenge).isEmpty)
      let hash = SHA256.hash(challenge.span).array
      #expect(
        appAttest.requests == [
          .init(.generateKey), .init(.attestKey, keyID, hash), .init(.generateAssertion, keyID, hash),
        ])
    }
  }

  /// DCError's five codes, and one of later times.
  private static let codes = [0, 1, 2, 3, 4, 17]

  @Test(arguments: codes) func aKeyIsNotMade(code: Int) async throws {
    appAttest.fail(.generateKey, code)
    await phone.run {
      await #expect(throws: DeviceCheckFailure(code: code)) { try await AppAttestor().makeKey() }
    }
    #expect(appAttest.count(.generateKey) == 1)
  }

  @Test(arguments: codes) func aKeyIsNotAttested(code: Int) async throws {
    appAttest.fail(.attestKey, code)
    await phone.run {
      await #expect(throws: DeviceCheckFailure(code: code)) {
        try await AppAttestor().attest("key", challenge: challenge)
      }
    }
    #expect(appAttest.count(.attestKey) == 1)
  }

  @Test(arguments: codes) func nothingIsSigned(code: Int) async throws {
    appAttest.fail(.generateAssertion, code)
    await phone.run {
      await #expect(throws: DeviceCheckFailure(code: code)) {
        try await AppAttestor().assert("key", challenge: challenge)
      }
    }
    #expect(appAttest.count(.generateAssertion) == 1)
  }

  private struct Foreign: Error {}

  @Test func anErrorOfAnotherDomainCountsAsUnknown() async throws {
    appAttest.fail(.generateKey, with: [Foreign()])
    await phone.run {
      let failure = await #expect(throws: DeviceCheckFailure.self) { try await AppAttestor().makeKey() }
      #expect(failure?.code == 0 && failure?.detail.contains("Foreign") == true)
    }
  }

  /// A key that was made before the app was installed anew, and one that was attested before.
  @Test func keysThatAreGone() async throws {
    appAttest.begin(try .create(now: SystemClock().wall()), appID: "ABCDE12345.org.example.game")
    try await phone.run {
      let keyID = try await AppAttestor().makeKey()
      _ = try await AppAttestor().attest(keyID, challenge: challenge)
      await #expect(throws: DeviceCheckFailure(code: 3)) {
        try await AppAttestor().attest(keyID, challenge: challenge)
      }
      appAttest.reinstall()
      await #expect(throws: DeviceCheckFailure(code: 3)) {
        try await AppAttestor().assert(keyID, challenge: challenge)
      }
    }
  }

  @Test func whereThereIsNoneNothingIsAsked() async throws {
    appAttest.isSupported = false
    await phone.run { #expect(!AppAttestor().isSupported) }
    #expect(appAttest.requests == [])
  }
}
