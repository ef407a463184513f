/// The device's keys and record as an iPhone has them: `EnclaveKeys` and `KeychainDeviceStore` over the fakes.
internal import AppleFoundation
internal import AppleLocalAuthentication
@testable internal import ApplePhone
internal import AppleSecurity
internal import Bytes
internal import Crypto
internal import PortcullisProtocol
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct EnclaveKeysTests {
  private let phone = AppleDevice()
  private var prompts: FakePrompts { phone[FakePrompts.self] }
  private var keychain: FakeKeychain { phone[FakeKeychain.self] }
  private let message = Array("an approval".utf8)

  private func verify(_ signature: [UInt8], by point: [UInt8]) throws -> Bool {
    let parsed = P256Point(x963: point.span)
    let digest = SHA256.hash(message.span)
    let key = try #require(parsed)
    let isValid = P256Verifier().isValidSignature(signature.span, digest: digest, by: key)
    return isValid
  }

  @Test func theDeviceKeySignsWithoutAPrompt() async throws {
    try await phone.run {
      let keys = EnclaveKeys()
      let name = try await keys.make(.device, challenge: nil)
      let point = try await keys.point(name)
      let signature = try await keys.sign(message, by: name, reason: "")
      #expect(try verify(signature, by: point))
      #expect(prompts.shown == 0 && name.text.hasPrefix("device-"))
    }
  }

  /// One face for one signature.
  @Test func theApprovalKeyAsksEachTime() async throws {
    try await phone.run {
      let keys = EnclaveKeys()
      let name = try await keys.make(.approval, challenge: nil)
      let point = try await keys.point(name)
      #expect(prompts.shown == 0, "the public half needs nobody")
      for count in 1...3 {
        let signature = try await keys.sign(message, by: name, reason: "Transfer 5 gold")
        #expect(try verify(signature, by: point))
        #expect(prompts.shown == count)
      }
    }
  }

  @Test func namesAreNewAndNothingIsWrittenOver() async throws {
    try await phone.run {
      let keys = EnclaveKeys()
      var points: Set<[UInt8]> = []
      var names: [KeyName] = []
      for _ in 0..<4 {
        names.append(try await keys.make(.approval, challenge: nil))
        points.insert(try await keys.point(names[names.count - 1]))
      }
      #expect(Set(names).count == 4 && points.count == 4)
      try await keys.remove(names[0])
      try await keys.remove(names[0])
      await #expect(throws: DeviceKeyError.gone) { try await keys.point(names[0]) }
      #expect(try await points.contains(keys.point(names[1])))
    }
  }

  @Test(
    arguments: [
      (-1, .cancelled), (-2, .cancelled), (-3, .cancelled), (-4, .cancelled), (-9, .cancelled),
      (-128, .cancelled), (-8, .biometryLocked), (-5, .biometryUnavailable), (-6, .biometryUnavailable),
      (-7, .biometryUnavailable), (-1004, .notInteractive), (-25308, .notInteractive), (-25300, .gone),
    ] as [(Int, DeviceKeyError)])
  func whatThePersonDoes(code: Int, error: DeviceKeyError) async throws {
    try await phone.run {
      let keys = EnclaveKeys(presence: .userPresence)
      let name = try await keys.make(.approval, challenge: nil)
      prompts.script(.no(code))
      await #expect(throws: error) { try await keys.sign(message, by: name, reason: "vote") }
      // The key is still there, and another face is enough.
      _ = try await keys.sign(message, by: name, reason: "vote")
    }
  }

  /// A face was added: the key is gone for good, whatever the system calls it, and nothing is made in its place.
  @Test func anotherFaceEndsTheApprovalKey() async throws {
    try await phone.run {
      let keys = EnclaveKeys()
      let name = try await keys.make(.approval, challenge: nil)
      let device = try await keys.make(.device, challenge: nil)
      prompts.addFace()
      await #expect(throws: DeviceKeyError.gone) { try await keys.sign(message, by: name, reason: "vote") }
      _ = try await keys.sign(message, by: device, reason: "")
    }
  }

  /// The prompt goes with the task that waits for it.
  @Test func aTaskThatIsCancelled() async throws {
    try await phone.run {
      let keys = EnclaveKeys()
      let name = try await keys.make(.approval, challenge: nil)
      prompts.script(.later)
      let signing = Task { try await keys.sign(message, by: name, reason: "vote") }
      #expect(await eventually { prompts.standing == 1 })
      signing.cancel()
      await #expect(throws: DeviceKeyError.cancelled) { try await signing.value }
      #expect(prompts.standing == 0)
    }
  }

  @Test func lockedIsNotGone() async throws {
    try await phone.run {
      let keys = EnclaveKeys()
      let name = try await keys.make(.device, challenge: nil)
      keychain.isLocked = true
      await #expect(throws: DeviceKeyError.notInteractive) {
        try await keys.sign(message, by: name, reason: "")
      }
      keychain.isLocked = false
      _ = try await keys.sign(message, by: name, reason: "")
    }
  }

  // MARK: The record

  @Test func theRecordComesBack() async throws {
    try await phone.run {
      let store = KeychainDeviceStore()
      #expect(try await store.load() == nil)
      var record = DeviceRecord(
        host: "play.example.com", port: 8443, platform: .ios, name: nil,
        keys: DeviceRecord.KeyNames(device: KeyName(random: .device), approval: nil))
      try await store.save(record)
      #expect(try await store.load() == record)
      record.port = 443
      try await store.save(record)
      #expect(try await store.load() == record)
      #expect(try await KeychainDeviceStore(name: "other").load() == nil)
      keychain.isLocked = true
      await #expect(throws: DeviceStoreError.locked) { try await store.load() }
      keychain.isLocked = false
      try await store.erase()
      try await store.erase()
      #expect(try await store.load() == nil)
    }
  }

  /// What cannot be read is never nothing.
  @Test func whatCannotBeRead() async throws {
    await phone.run {
      keychain["portcullis", "device/device"] = Data("{".utf8)
      await #expect(throws: DeviceStoreError.self) { try await KeychainDeviceStore().load() }
      keychain["portcullis", "device/device"] = Data(#"{"v":2}"#.utf8)
      await #expect(throws: DeviceStoreError.later) { try await KeychainDeviceStore().load() }
      keychain.fail(.copyMatching, -50)
      await #expect(throws: DeviceStoreError.self) { try await KeychainDeviceStore().load() }
    }
  }
}
