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
  private let saved = SavedSession(
    gate: "play.example.com", keyID: "key", sessionID: "id", received: 3, handled: 4)

  @Test func whatWasSavedComesBack() async throws {
    try await phone.run {
      let storage = KeychainStorage()
      #expect(try storage.load() == nil)
      try storage.save(saved)
      #expect(try storage.load() == saved)
      var later = saved
      later.received = 5
      try storage.save(later)
      #expect(try storage.load() == later)
      #expect(try KeychainStorage(name: "other").load() == nil)
    }
  }

  /// On this phone alone, and from the first unlock on.
  @Test func howItIsKept() async throws {
    try await phone.run { try KeychainStorage(name: "one").save(saved) }
    #expect(
      keychain.accessible("portcullis", "one") == kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly)
  }

  @Test func beforeTheFirstUnlock() async throws {
    try await phone.run {
      let storage = KeychainStorage()
      try storage.save(saved)
      keychain.isLocked = true
      #expect(throws: SessionStorageError.locked) { try storage.load() }
      #expect(throws: (any Error).self) { try storage.save(saved) }
      keychain.isLocked = false
      #expect(try storage.load() == saved)
    }
  }

  @Test func withoutAKeychainItIsLocked() async {
    keychain.fail(.copyMatching, errSecNotAvailable)
    await phone.run {
      #expect(throws: SessionStorageError.locked) { try KeychainStorage().load() }
    }
  }

  @Test(arguments: [-50, -25293, -26275, -34018] as [Int32]) func whatElseIsWrong(status: Int32) async {
    keychain.fail(.copyMatching, status)
    keychain.fail(.update, status)
    await phone.run {
      #expect(throws: KeychainError(status: status)) { try KeychainStorage().load() }
      #expect(throws: KeychainError(status: status)) { try KeychainStorage().save(saved) }
    }
  }

  /// An extension of the app was faster between the two calls.
  @Test func anEntryThatCameMeanwhile() async {
    keychain.fail(.add, errSecDuplicateItem)
    await phone.run {
      #expect(throws: KeychainError(status: errSecDuplicateItem)) { try KeychainStorage().save(saved) }
    }
    #expect(keychain.calls == [.update, .add])
  }

  @Test func whatIsNoSession() async {
    keychain["portcullis", "session"] = Data([0x7B])
    await phone.run {
      #expect(throws: (any Error).self) { try KeychainStorage().load() }
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
