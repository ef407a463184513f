/// The fakes of what a second factor needs of a phone: a key in the Secure Enclave, and somebody who shows a face for it.
internal import AppleFoundation
internal import AppleLocalAuthentication
internal import AppleSecurity
internal import Bytes
internal import Crypto
internal import Testing

@Suite(.timeLimit(.minutes(1))) struct EnclaveTests {
  private let phone = AppleDevice()
  private var prompts: FakePrompts { phone[FakePrompts.self] }
  private let tag = Data("approvals".utf8)

  private func makeKey(_ flags: SecAccessControlCreateFlags) throws -> SecKey {
    let whenUnlocked = kSecAttrAccessibleWhenUnlockedThisDeviceOnly
    let made = SecAccessControlCreateWithFlags(nil, whenUnlocked, flags, nil)
    let control = try #require(made)
    let attributes: [String: Any] = [
      kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrAccessControl: control,
    ]
    let parameters: [String: Any] = [
      kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
      kSecAttrTokenID: kSecAttrTokenIDSecureEnclave, kSecPrivateKeyAttrs: attributes,
    ]
    let key = SecKeyCreateRandomKey(parameters, nil)
    return try #require(key)
  }

  private func find(_ context: LAContext? = nil) -> (status: OSStatus, key: SecKey?) {
    var query: [String: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag, kSecReturnRef: true]
    if let context { query[kSecUseAuthenticationContext] = context }
    var found: CFTypeRef?
    let status = unsafe SecItemCopyMatching(query, &found)
    return (status, found as? SecKey)
  }

  private func sign(_ key: SecKey) -> (signature: Data?, code: Int?) {
    var error: Unmanaged<CFError>?
    let algorithm = SecKeyAlgorithm.ecdsaSignatureMessageX962SHA256
    let signature = unsafe SecKeyCreateSignature(key, algorithm, Data("message".utf8), &error)
    return unsafe (signature, error.map { unsafe CFErrorGetCode($0.takeRetainedValue()) })
  }

  @Test func aKeySignsAndItsPublicHalfVerifies() async throws {
    try await phone.run {
      let key = try makeKey(.privateKeyUsage)
      let secret = SecKeyCopyExternalRepresentation(key, nil)
      #expect(secret == nil, "a private key has left the enclave")
      let publicKey = try #require(SecKeyCopyPublicKey(key))
      let representation = SecKeyCopyExternalRepresentation(publicKey, nil)
      let point = try #require(representation)
      #expect(point.count == 65 && point.first == 4)
      let found = try #require(find().key)
      let signature = try #require(sign(found).signature)
      let (x963, message) = ([UInt8](point), Array("message".utf8))
      let digest = SHA256.hash(message.span)
      let parsed = P256Point(x963: x963.span)
      let signer = try #require(parsed)
      let bytes = [UInt8](signature)
      let isValid = P256Verifier().isValidSignature(bytes.span, digest: digest, by: signer)
      #expect(isValid)
      #expect(sign(publicKey).code == Int(errSecParam))
      #expect(prompts.shown == 0)
    }
  }

  @Test func aKeyIsLockedDeletedAndGone() async throws {
    try await phone.run {
      _ = try makeKey(.privateKeyUsage)
      phone[FakeKeychain.self].isLocked = true
      #expect(find().status == errSecInteractionNotAllowed)
      phone[FakeKeychain.self].isLocked = false
      let query: [String: Any] = [kSecClass: kSecClassKey, kSecAttrApplicationTag: tag]
      #expect(SecItemDelete(query) == errSecSuccess && SecItemDelete(query) == errSecItemNotFound)
      #expect(find().status == errSecItemNotFound)
    }
  }

  /// The same context vouches for a second signature, without another prompt; a new one does not.
  @Test func aContextThatIsUsedTwice() async throws {
    try await phone.run {
      _ = try makeKey([.privateKeyUsage, .biometryCurrentSet])
      let key = try #require(find(LAContext()).key)
      #expect(sign(key).signature != nil && sign(key).signature != nil && prompts.shown == 1)
      #expect(sign(try #require(find(LAContext()).key)).signature != nil && prompts.shown == 2)
    }
  }

  /// LAError's codes: cancelled, locked out, no passcode.
  @Test(arguments: [-2, -8, -5]) func thePersonDoesNot(code: Int) async throws {
    try await phone.run {
      _ = try makeKey([.privateKeyUsage, .biometryCurrentSet])
      prompts.script(.no(code))
      #expect(sign(try #require(find(LAContext()).key)).code == code)
      prompts.script(.no(code))
      await #expect {
        try await LAContext().evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "vote")
      } throws: {
        ($0 as? LAError)?.code.rawValue == code
      }
      prompts.codeOfNone = code
      var error: NSError?
      let canAsk = unsafe LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &error)
      #expect(!canAsk)
      #expect(error?.code == code && error?.domain == LAErrorDomain)
    }
  }

  @Test func anotherFaceEndsAKeyOfTheFacesOfBefore() async throws {
    try await phone.run {
      _ = try makeKey([.privateKeyUsage, .biometryCurrentSet])
      let key = try #require(find().key)
      let faces = LAContext().evaluatedPolicyDomainState
      prompts.addFace()
      #expect(find().status == errSecItemNotFound && sign(key).code == Int(errSecItemNotFound))
      #expect(LAContext().evaluatedPolicyDomainState != faces)
    }
  }

  @Test func aContextThatIsInvalidatedWhileItAsks() async throws {
    await phone.run {
      prompts.script(.later)
      let context = LAContext()
      let asking = Task {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "vote")
      }
      #expect(await eventually { prompts.standing == 1 })
      context.invalidate()
      await #expect { try await asking.value } throws: { ($0 as? LAError)?.code == .appCancel }
      await #expect {
        try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: "vote")
      } throws: {
        ($0 as? LAError)?.code == .invalidContext
      }
    }
  }

  @Test func withoutInteractionNobodyIsAsked() async throws {
    try await phone.run {
      _ = try makeKey([.privateKeyUsage, .userPresence])
      let context = LAContext()
      context.interactionNotAllowed = true
      #expect(sign(try #require(find(context).key)).code == -1004 && prompts.shown == 0)
    }
  }
}
