/// An operator's order changes the keys of tokens: which tokens hold, what else ends, who hears of it, what the audit says.
import Bytes
import DeviceTokens
import DeviceWire
import JSON
import PortcullisProtocol
import Synchronization
import System
import Testing

@testable import Registry

@Suite struct RotateTokenKeysTests {
  private let part: DevicePart

  init() throws { part = DevicePart(try RegistryHarness()) }

  @Test func tokensOfBeforeHoldUnlessTheyAreToEnd() throws {
    let phone = try part.activePhone("ada")
    let token = try #require(try part.token(phone)["token"])
    let first = part.registry.tokens.ring.current.key.identifier
    let said = try part.order("devices-rotate-token-keys", "{}")
    #expect(said["kid"] == part.registry.tokens.ring.current.key.identifier && said["kid"] != first)
    #expect(try part.read(token).code == nil)
    let second = try #require(try part.token(phone)["token"])
    part.registry.effects = []
    #expect(try part.order("devices-rotate-token-keys", #"{"now":true}"#).code == nil)
    for old in [token, second] { #expect(try part.read(old).code == .tokenRejected) }
    #expect(try part.read(#require(try part.token(phone)["token"])).code == nil)
    #expect(part.registry.effects.contains(.keySet(part.registry.tokens.ring.jwks)))
    #expect(part.registry.effects.contains(.wakeAll))
    // As they are kept.
    #expect(try part.registry.store.tokenKeys().count == 1)
    let rows = try part.registry.store.auditRows(after: 0, limit: 100).compactMap { row in
      if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { nil }
    }
    let row = try #require(rows.last { $0.contains("token_keys_changed") })
    #expect(row.contains(#""ended":"tokens""#) && row.contains(#""uid":0"#) && row.contains(#""pid":1"#))
  }

  /// What codes are kept under is made anew at the next one.
  @Test func theSecretOfCodesEndsWithThem() throws {
    try part.registry.store.setValue(StoreValue.secret, [UInt8](repeating: 7, count: 32))
    #expect(try part.order("devices-rotate-token-keys", "{}").code == nil)
    #expect(try part.registry.store.value(StoreValue.secret) != nil)
    #expect(try part.order("devices-rotate-token-keys", #"{"now":true}"#).code == nil)
    #expect(try part.registry.store.value(StoreValue.secret) == nil)
  }

  private final class Runs: Sendable {
    let count = Mutex(0)
  }

  private struct Poll: RegistryCall {
    let runs: Runs

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      runs.count.withLock { $0 += 1 }
      return .wait(.approvals(of: .test(1)), by: .device(.test(1)), otherwise: .permitted)
    }
  }

  /// Whoever waits with a token shows it once more.
  @Test(arguments: [false, true]) func longPollsAreLookedAtAgain(isEnd: Bool) throws {
    let (worker, runs) = (try WorkerPart(), Runs())
    try worker.start()
    worker.submit(Poll(runs: runs), WorkerPart.Answer(), wait: .seconds(25))
    let order = try OperatorOrder.call(
      "devices-rotate-token-keys", JSONObject([(name: "now", value: .boolean(isEnd))]))
    #expect(worker.serve(order)?.isRefusal == false)
    worker.goOn()
    #expect(runs.count.withLock { $0 } == (isEnd ? 2 : 1))
    worker.stop()
  }
}
