/// The app's key as a device's voucher: its assertion is over the device's keys, and in turn with those of the sessions.
import FoundationEssentials
import PortcullisClient
import PortcullisProtocol
import PortcullisTesting
import Testing

@testable import PortcullisDevice

@Suite(.timeLimit(.minutes(1))) struct AppKeyVoucherTests {
  private let appAttest = ScriptedAppAttest()
  private let clock = TestClock()

  private func key() throws -> AppKey {
    AppKey(
      gate: try #require(URL(string: "https://play.example.com:8443")),
      transport: PortcullisTesting.ScriptedGate(),
      attestor: appAttest, storage: MemoryStorage(), clock: clock.clock)
  }

  private func points() throws -> DevicePoints {
    let point = [4] + [UInt8](repeating: 7, count: 64)
    return try #require(DevicePoints(device: point, approval: nil))
  }

  private func challenge() throws -> DeviceChallenge {
    let server = try #require(ServerID([UInt8](repeating: 1, count: 16)))
    return DeviceChallenge(nonce: SHA2.hash([1]), server: server)
  }

  @Test func itAssertsOverTheDevicesKeys() async throws {
    let voucher = AppKeyVoucher(try key())
    let evidence = try await voucher.evidence(for: points(), challenge(), isKnown: false)
    #expect(evidence == .assertion([3], keyID: ScriptedAppAttest.key(1)))
    #expect(await voucher.appKeyID == ScriptedAppAttest.key(1))
    let message = DeviceMessage.appAttest(
      server: try challenge().server, keys: try points().hashes, nonce: try challenge().nonce)
    #expect(appAttest.signed == [message.bytes])
  }

  /// A session's assertion is made once the gate has the device's.
  @Test func aSessionWaitsForTheGatesAnswer() async throws {
    let key = try key()
    let voucher = AppKeyVoucher(key)
    _ = try await voucher.evidence(for: points(), challenge(), isKnown: true)
    let next = Task { try await key.assertion() }
    for _ in 0..<100 { await Task.yield() }
    #expect(appAttest.signed.count == 1)
    await voucher.answered(isAccepted: true)
    _ = try await next.value
    #expect(appAttest.signed.count == 2)
  }
}
