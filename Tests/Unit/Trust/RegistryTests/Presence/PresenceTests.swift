/// Which phones count as near: those that have signed for this desktop, and for how long.
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import Time
import Testing

@testable import Registry

@Suite struct PresenceTests {
  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  private func pass(_ milliseconds: Int64) {
    registry.now = UnixTime(milliseconds: registry.now.milliseconds + milliseconds)
  }

  // MARK: Attacks

  /// Somebody else's signature, or one over anything but what is asked.
  @Test func foreignSignatures() throws {
    let (phone, other) = (try part.activePhone("ada"), try part.activePhone("eve"))
    let (desktop, elsewhere) = (try part.desktop(), try part.desktop("cellar"))
    let refused = [
      try part.prove(phone, to: desktop, by: other.device),
      try part.prove(phone, to: desktop, by: phone.approval),
      try part.prove(phone, to: desktop, forge: { $0.server = .test(3) }),
      try part.prove(phone, to: desktop, forge: { $0.device = .test(3) }),
      try part.prove(phone, to: desktop, forge: { $0.nonce = Bytes32(words: 0, 0, 0, 0) }),
      try part.prove(phone, to: desktop, forge: { $0.signedAt = $0.signedAt + 1 }),
      try part.prove(phone, to: desktop, send: { $0.signedAt = $0.signedAt + 1 }),
      try part.prove(phone, to: elsewhere, forge: { $0.desktop = .test(3) }),
    ]
    for said in refused { #expect(said.code == .presenceRejected && said.step == "presence_signature") }
    // What the phone has signed for one desktop is brought by another.
    let name = try desktop.desktop
    #expect(try part.prove(phone, to: elsewhere, forge: { $0.desktop = name }).code == .presenceRejected)
    #expect(try !part.isNear(phone))
    #expect(try !part.isNear(other))
    #expect(try part.prove(phone, to: desktop).code == nil)
    #expect(try part.isNear(phone))
    #expect(try !part.isNear(other))
  }

  /// Whoever is not there, not confirmed, at the end, or not this service's is all one.
  @Test func devicesThatNobodyMayAskAbout() throws {
    let desktop = try part.desktop(subjects: "mud-*")
    let (pending, gone, foreign, unknown) = (
      try TestPhone(), try part.activePhone("mud-1"), try part.activePhone("ada"), try TestPhone()
    )
    _ = try part.enroll(pending)
    try part.revoke(gone)
    unknown.id = .test(9)
    for phone in [pending, gone, foreign, unknown] {
      #expect(try part.ask(desktop, about: phone.required).code == .presenceRejected)
      #expect(try part.prove(phone, to: desktop).code == .presenceRejected)
    }
    let own = try part.activePhone("mud-2")
    #expect(try part.ask(desktop, about: own.required).code == nil)
    #expect(try part.prove(own, to: desktop).code == nil)
    // Whose it is nobody has said yet.
    let nobodys = try part.activePhone()
    #expect(try part.prove(nobodys, to: desktop).code == nil)
  }

  @Test func otherServices() throws {
    let phone = try part.activePhone("ada")
    let wrong = try part.desktop("forum", scopes: "codes")
    #expect(try part.ask(wrong, about: phone.required).code == .scopeMissing)
    #expect(try part.prove(phone, to: wrong).code == .scopeMissing)
    let gone = try part.desktop("cellar")
    _ = try part.order("services-revoke", #"{"name":"cellar"}"#)
    #expect(try part.ask(gone, about: phone.required).code == .tokenRejected)
    #expect(try part.prove(phone, to: gone).code == .tokenRejected)
    #expect(try !part.isNear(phone))
  }

  @Test func clocksThatAreFarApart() throws {
    let (phone, desktop) = (try part.activePhone(), try part.desktop())
    for seconds in [-301, 301] as [Int64] {
      func shift(_ presence: inout SignedPresence) { presence.signedAt = presence.signedAt + seconds }
      #expect(try part.prove(phone, to: desktop, forge: shift, send: shift).code == .clockSkewed)
      // Only its own phone is told so.
      #expect(try part.prove(phone, to: desktop, send: shift).code == .presenceRejected)
    }
    #expect(try !part.isNear(phone))
    for seconds in [-300, 300] as [Int64] {
      func shift(_ presence: inout SignedPresence) { presence.signedAt = presence.signedAt + seconds }
      #expect(try part.prove(phone, to: desktop, forge: shift, send: shift).code == nil)
    }
  }

  // MARK: The signal's strength

  @Test func weakSignals() throws {
    registry.settings.presenceStrengths = SignalStrengths([("hall", -70), ("cellar", -90)])
    let phone = try part.activePhone()
    let hall = try part.desktop("one", site: "hall")
    for rssi in [nil, "-71", "-127", "127"] as [String?] {
      let said = try part.prove(phone, to: hall, rssi: rssi)
      #expect(said.code == .presenceRejected && said.step == "presence_rssi", "\(rssi ?? "none")")
    }
    #expect(try !part.isNear(phone))
    for rssi in ["-70", "-69", "20"] { #expect(try part.prove(phone, to: hall, rssi: rssi).code == nil) }

    #expect(try part.prove(phone, to: part.desktop("two", site: "cellar"), rssi: "-71").code == nil)
    // Two names that read alike are two sites: letters are compared as bytes.
    registry.settings.presenceStrengths = SignalStrengths([("caf\u{E9}", -70), ("cafe\u{301}", -80)])
    #expect(try part.prove(phone, to: part.desktop("five", site: "caf\u{E9}"), rssi: "-71").code != nil)
    #expect(try part.prove(phone, to: part.desktop("six", site: "cafe\u{301}"), rssi: "-81").code != nil)
    registry.settings.presenceStrengths = SignalStrengths([("hall", -70), ("cellar", -90)])
    // Letters are compared as bytes, and where nothing is said of a site nobody asks.
    #expect(try part.prove(phone, to: part.desktop("three", site: "Hall")).code == nil)
    let nowhere = try part.desktop("four")
    #expect(try part.prove(phone, to: nowhere).code == nil)
    registry.settings.presenceStrengths = SignalStrengths([("*", -70), ("hall", -90)])
    #expect(try part.prove(phone, to: nowhere).code == .presenceRejected)
    #expect(try part.prove(phone, to: hall, rssi: "-90").code == nil)
  }

  @Test(arguments: ["-128", "21", "126", "128", "-70.5", #""-70""#, "null", "true", "[-70]"])
  func strengthsThatAreNone(rssi: String) throws {
    let (phone, desktop) = (try part.activePhone(), try part.desktop())
    #expect(throws: (any Error).self) { try part.prove(phone, to: desktop, rssi: rssi) }
  }

  // MARK: How long a pass counts

  @Test func passesEnd() throws {
    let (phone, desktop) = (try part.activePhone(), try part.desktop())
    let said = try part.prove(phone, to: desktop)
    #expect(said["result"] == "pass" && said["device_id"] == phone.id?.text)
    #expect(said.value.object?["expires_at"]?.integer == registry.now.seconds + 60)
    pass(60_000)
    #expect(try part.isNear(phone))
    #expect(try part.isNear(phone))
    pass(1)
    #expect(try !part.isNear(phone))
    // A shorter age holds for passes that are there, too.
    _ = try part.prove(phone, to: desktop)
    pass(2000)
    registry.settings.presenceMaximumAge = .seconds(1)
    #expect(try !part.isNear(phone))
  }

  /// The desktop may not name whom it belongs to now.
  @Test func anotherHasProvedNothing() throws {
    let desktop = try part.desktop(subjects: "guest-*")
    let phone = try part.activePhone(nil)
    #expect(try part.prove(phone, to: desktop).code == nil && part.isNear(phone))
    _ = try part.order("devices-assign", #"{"id":"\#(try phone.required.text)","subject":"anna"}"#)
    #expect(try part.record(phone).subject?.name == "anna" && !part.isNear(phone))
  }

  @Test func whatEndsAPass() throws {
    let (first, second) = (try part.desktop("one"), try part.desktop("two"))
    let phones = try (0..<5).map { _ in try part.activePhone("ada") }
    for phone in phones[0..<3] { #expect(try part.prove(phone, to: first).code == nil) }
    for phone in phones[3...] { #expect(try part.prove(phone, to: second).code == nil) }

    try part.revoke(phones[0])
    #expect(try !part.isNear(phones[0]))
    // New keys have proved nothing.
    let next = try TestPhone()
    _ = try part.rotate(phones[1], to: next)
    #expect(try !part.isNear(next))
    #expect(try part.prove(next, to: first).code == nil)
    #expect(try part.isNear(next))
    // Another one comes: that changes nothing.
    _ = try part.desktop("three")
    #expect(try part.isNear(phones[3]))
    // A desktop's token was changed, perhaps as somebody had it.
    _ = try part.order("services-rotate", #"{"name":"two"}"#)
    for phone in phones[3...] { #expect(try !part.isNear(phone)) }
    #expect(try part.isNear(phones[2]))
    _ = try part.order("services-revoke", #"{"name":"one"}"#)
    #expect(try !part.isNear(phones[2]))
  }

  @Test func itIsOnRecordWithoutNumbers() throws {
    registry.settings.presenceStrengths = SignalStrengths([("*", -70)])
    let (phone, desktop) = (try part.activePhone(), try part.desktop())
    _ = try part.prove(phone, to: desktop, rssi: "-41")
    let row = try #require(try registry.store.auditRows(after: 0, limit: 1000).last)
    let expected = """
      {"at":\(registry.now.seconds),"device_id":"\(try phone.required.text)","event":"presence_proved",\
      "service_id":"\(desktop.id.text)"}
      """
    guard case .text(let text, _) = row.content else {
      Issue.record("erased")
      return
    }
    #expect(String(decoding: text, as: UTF8.self) == expected)
  }

  @Test func nothingHeapsUp() {
    let memory = PresenceMemory()
    for number in 0..<20_000 as Range<UInt64> {
      let device = DeviceID(random: KernelEntropy())
      memory.keep(
        PresencePass(
          device: device, key: Bytes32(words: number, 0, 0, 0), subject: nil, desktop: .test(1),
          at: UnixTime(milliseconds: Int64(number) * 1000)))
      #expect(memory.count <= 1024 + 601)
    }
  }
}
