/// `KeychainStorage` over a Keychain that is empty, locked, slower than another one, or broken; and the PKCS #12 reader.
@testable internal import AppleClient
internal import AppleFoundation
internal import AppleSecurity
internal import Device
internal import Kit
internal import Testing
internal import Time

@Suite struct KeychainTests {
  private let phone = AppleDevice()
  private var keychain: FakeKeychain { phone[FakeKeychain.self] }
  private let entry = GameEntry(.session("main"), gate: "play.example.com:443")
  private let saved = RememberedSession(id: "id", received: 3, handled: 4).bytes

  @Test func whatWasSavedComesBack() async throws {
    try await phone.run {
      let storage = KeychainStorage()
      #expect(try storage.load(entry) == nil)
      try storage.save(saved, as: entry)
      #expect(try storage.load(entry) == saved)
      let later = RememberedSession(id: "id", received: 5, handled: 4).bytes
      try storage.save(later, as: entry)
      #expect(try storage.load(entry) == later)
      for other in [GameEntry(.session("other"), gate: entry.gate), GameEntry(.key, gate: entry.gate)] {
        #expect(try storage.load(other) == nil)
      }
      try storage.save(nil, as: entry)
      try storage.save(nil, as: entry)
      #expect(try storage.load(entry) == nil)
    }
  }

  /// On this phone alone, and from the first unlock on.
  @Test func howItIsKept() async throws {
    try await phone.run { try KeychainStorage().save(saved, as: entry) }
    #expect(
      keychain.accessible("portcullis", "play.example.com:443/session/main")
        == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
  }

  @Test func beforeTheFirstUnlock() async throws {
    try await phone.run {
      let storage = KeychainStorage()
      try storage.save(saved, as: entry)
      keychain.isLocked = true
      #expect(throws: GameStorageError.locked) { try storage.load(entry) }
      #expect(throws: (any Error).self) { try storage.save(saved, as: entry) }
      keychain.isLocked = false
      #expect(try storage.load(entry) == saved)
    }
  }

  @Test func withoutAKeychainItIsLocked() async {
    keychain.fail(.copyMatching, errSecNotAvailable)
    await phone.run {
      #expect(throws: GameStorageError.locked) { try KeychainStorage().load(entry) }
    }
  }

  @Test(arguments: [-50, -25293, -26275, -34018] as [Int32]) func whatElseIsWrong(status: Int32) async {
    keychain.fail(.copyMatching, status)
    keychain.fail(.update, status)
    await phone.run {
      #expect(throws: KeychainError(status: status)) { try KeychainStorage().load(entry) }
      #expect(throws: KeychainError(status: status)) { try KeychainStorage().save(saved, as: entry) }
    }
  }

  /// An extension of the app was faster between the two calls.
  @Test func anEntryThatCameMeanwhile() async {
    keychain.fail(.add, errSecDuplicateItem)
    await phone.run {
      // The other one's is not there in truth, and so the second update says what the first one did.
      #expect(throws: KeychainError(status: errSecItemNotFound)) {
        try KeychainStorage().save(saved, as: entry)
      }
    }
    #expect(keychain.calls == [.update, .add, .update])
  }

  // MARK: The one entry of before

  private static func earlier(_ gate: String) -> Data {
    let text =
      #"{"gate":"\#(gate)","keyID":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","sessionID":"id","received":3,"handled":4}"#
    return Data(text.utf8)
  }

  @Test(arguments: [true, false]) func itIsSplitWhenItIsFirstRead(isKeyFirst: Bool) async throws {
    keychain["portcullis", "session"] = Self.earlier(entry.gate)
    let key = GameEntry(.key, gate: entry.gate)
    try await phone.run {
      let storage = KeychainStorage()
      let first = try storage.load(isKeyFirst ? key : entry)
      let second = try storage.load(isKeyFirst ? entry : key)
      let record = try AppKeyRecord(saved: (isKeyFirst ? first : second) ?? [])
      #expect(record.key?.stage == .registered)
      #expect((isKeyFirst ? second : first) == saved)
      #expect(keychain["portcullis", "session"] == nil)
    }
  }

  @Test func anothersIsLeft() async throws {
    for other in [Self.earlier("another.example.com:443"), Data([0x7B])] {
      keychain["portcullis", "session"] = other
      try await phone.run {
        let found = try KeychainStorage().load(entry)
        #expect(found == nil)
      }
      #expect(keychain["portcullis", "session"] == other)
    }
  }

  // MARK: PKCS #12

  @Test func aBundleAsDevCertsMakesIt() throws {
    let folder = try TestFolder("apple-")
    try DevelopmentCertificates.make(names: [], password: "word", now: SystemClock().wall())
      .write(to: folder.path, overwriting: false)
    let file = URL(filePath: folder.file("client.p12"))
    #expect(ClientCertificate(contentsOf: file, password: "word") != nil)
    #expect(ClientCertificate(contentsOf: file, password: "other") == nil)
    #expect(ClientCertificate(contentsOf: URL(filePath: folder.file("client.pem")), password: "word") == nil)
    #expect(ClientCertificate(contentsOf: URL(filePath: folder.file("none")), password: "word") == nil)
    #expect(ClientCertificate(contentsOf: nil, password: "word") == nil)
  }
}
