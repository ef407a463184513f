/// `devices forget` in pieces: each is small, and an order that was cut short anywhere can be repeated.
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct ForgetTests {
  private static let rows = 1300

  /// A subject with two devices, of which the audit tells a lot.
  private struct Stage {
    let registry: RegistryHarness
    let part: DevicePart
    let phones: [TestPhone]

    init() throws {
      registry = try RegistryHarness()
      part = DevicePart(registry)
      phones = [try part.activePhone("ada"), try part.activePhone("ada")]
      let device = try phones[0].required
      try registry.run(Fill(device: device, count: ForgetTests.rows))
      _ = try part.activePhone("eve")
    }

    /// The second order, behind the first.
    func order(_ arguments: String) throws -> any RegistryCall {
      try registry.run(call("devices-end", arguments))
      return try call("devices-forget", arguments)
    }

    func call(_ verb: String, _ arguments: String) throws -> any RegistryCall {
      let bytes = Array(arguments.utf8)
      let object = try #require(try JSONValue(parsing: bytes.span, depthLimit: 2).object)
      return try OperatorOrder.call(verb, object)
    }

    var texts: [String] {
      get throws {
        try registry.store.auditRows(after: 0, limit: 10_000).compactMap { row in
          if case .text(let text, _) = row.content { String(decoding: text, as: UTF8.self) } else { nil }
        }
      }
    }
  }

  private struct Fill: RegistryCall {
    let device: DeviceID
    let count: Int

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      for _ in 0..<count { try transaction.record(.init("seen"), .device(device)) }
      return .reply(.answered(Array("{}".utf8)))
    }
  }

  /// Others have their turn between two of them.
  @Test func eachPieceIsSmall() throws {
    let stage = try Stage()
    var call = try stage.order(#"{"subject":"ada"}"#)
    var (pieces, left) = (0, try stage.texts.count)
    while case .goOn(let next) = try stage.registry.run(call) {
      (pieces, call) = (pieces + 1, next)
      let now = try stage.texts.count
      #expect(left - now <= 512)
      left = now
      for phone in stage.phones {
        #expect(try stage.registry.store.device(phone.required)?.state ?? .revoked == .revoked)
      }
    }
    #expect(pieces > 3)
    try expectNothing(of: stage)
  }

  /// Whoever gives both orders waits between them for the key store: what tells the next start of a key stays until that has
  /// it, also where the device was revoked before.
  @Test func rowsStayUntilTheirKeysHaveEnded() throws {
    let stage = try Stage()
    let (part, registry) = (stage.part, stage.registry)
    let phones = [
      try part.activePhone("ada", evidence: appKey(1)), try part.activePhone("ada", evidence: appKey(2)),
    ]
    let forget = try stage.call("devices-forget", #"{"subject":"ada"}"#)
    #expect(try Said(registry.runWhole(forget)).step == "device_not_ended")
    try part.revoke(phones[0])
    #expect(try Said(registry.runWhole(forget)).step == "device_not_ended")
    for _ in 0..<2 {
      registry.effects = []
      #expect(try Said(registry.run(stage.call("devices-end", #"{"subject":"ada"}"#))).code == nil)
      #expect(
        part.doorEffects.filter { if case .attestedKeyRevoked = $0 { true } else { false } } == [
          .attestedKeyRevoked(appKey(1)), .attestedKeyRevoked(appKey(2)),
        ])
    }
    // One more has come.
    _ = try part.activePhone("ada")
    #expect(try Said(registry.runWhole(forget)).step == "device_not_ended")
    for phone in phones { #expect(try part.record(phone).state == .revoked) }
    _ = try registry.runWhole(stage.order(#"{"subject":"ada"}"#))
    for phone in phones { #expect(try registry.store.device(phone.required) == nil) }
  }

  /// The process dies between two pieces, each in turn.
  @Test(arguments: [true, false]) func whatWasCutShortIsRepeated(bySubject: Bool) throws {
    for count in 1..<20 {
      let stage = try Stage()
      let orders =
        bySubject
        ? [#"{"subject":"ada"}"#] : try stage.phones.map { phone in #"{"id":"\#(try phone.required.text)"}"# }
      var isCutShort = false
      for order in orders {
        var call = try stage.order(order)
        for _ in 0..<count {
          guard case .goOn(let next) = try stage.registry.run(call) else { break }
          call = next
        }
        // Where it had come to its end there is nothing left, which it says.
        let again = try Said(stage.registry.runWhole(stage.order(order)))
        #expect(again.code == nil || again.code == RefusalCode.deviceUnknown)
        isCutShort = isCutShort || again.value.object?["forgotten"]?.integer ?? 0 > 0
      }
      if bySubject { try expectNothing(of: stage) } else { try expectNoDevices(of: stage) }
      if !isCutShort { return }
    }
    Issue.record("it does not come to its end")
  }

  private func expectNoDevices(of stage: Stage) throws {
    let texts = try stage.texts
    for phone in stage.phones {
      let id = try phone.required
      #expect(try stage.registry.store.device(id) == nil)
      #expect(!texts.contains { $0.contains(id.text) })
    }
  }

  private func expectNothing(of stage: Stage) throws {
    try expectNoDevices(of: stage)
    #expect(try !stage.texts.contains { $0.contains(#""ada""#) })
    #expect(try stage.texts.contains { $0.contains(#""eve""#) })
  }
}
