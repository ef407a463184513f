/// Tokens of Play Integrity judged a second, and the cryptography of the same tokens by itself.
internal import Bytes
internal import Crypto
internal import Device
internal import DeviceWire
internal import PlayIntegrity
internal import System
internal import Time

enum PlayMeasure {
  private static let tokens = 64
  private static let package = "com.example.mud"
  private static let nonce = Bytes32(.init(repeating: 0x3E))
  private static let certificate = Bytes32(.init(repeating: 0x3F))
  private static let now = UnixTime(milliseconds: 1_772_452_800_000)

  /// What cannot be left out: one key unwrapped, one text opened, one signature verified.
  private struct Floor {
    let header: [UInt8]
    let wrappedKey: [UInt8]
    let vector: [UInt8]
    let ciphertext: [UInt8]
    let tag: [UInt8]
    let signed: [UInt8]
    let signature: [UInt8]

    func run(_ keys: PlayKeys, _ verifier: P256Verifier) -> Bool {
      guard let key = AES256KeyWrap.unwrap(wrappedKey.span, under: keys.decryption),
        AES256GCM.open(
          ciphertext.span, tag: tag.span, nonce: vector.span, additionalData: header.span, key: key) != nil
      else { return false }
      return verifier.isValidSignature(
        signature.span, digest: SHA256.hash(signed.span), by: keys.verification)
    }
  }

  static func run(seconds: Double) throws -> Report {
    let service = try TestPlayService.create()
    guard let app = AndroidApp(package: package, digests: [certificate]),
      let file = try service.files().first(where: { $0.name == TestPlayService.FileName.keys })
    else { throw Broken("no app, or no keys") }
    let keys = try PlayKeys.read(file.bytes.span)
    var samples: [[UInt8]] = []
    var floors: [Floor] = []
    for _ in 0..<tokens {
      let claims = TestPlayService.Claims(package: package, signers: [certificate], nonce: nonce, time: now)
      let token = Array(try service.token(claims).utf8)
      samples.append(token)
      floors.append(try floor(of: token, keys[0]))
    }
    let verifier = PlayVerifier()
    let bare = P256Verifier()
    var done = 0
    var whole = 0.0
    var alone = 0.0
    // In turns, so that whatever else goes on is shared by both.
    while whole + alone < seconds {
      let wholeClock = ProcessorClock()
      for token in samples {
        let verdict = try verifier.verify(
          token.span, nonce: nonce, keys: keys, apps: [app], now: now, maximumAge: .seconds(120),
          required: .device)
        guard verdict.level == .device else { throw Broken("a level of \(verdict.level)") }
      }
      whole += wholeClock.seconds
      let aloneClock = ProcessorClock()
      for floor in floors where !floor.run(keys[0], bare) { throw Broken("a token that is not good") }
      alone += aloneClock.seconds
      done += samples.count
    }
    return Report(("whole_us", whole / Double(done) * 1e6), ("alone_us", alone / Double(done) * 1e6))
  }

  private static func floor(of token: [UInt8], _ keys: PlayKeys) throws -> Floor {
    let parts = split(token)
    let bytes = try parts.map(decoded)
    let (header, wrappedKey, vector) = (parts[0], bytes[1], bytes[2])
    let (ciphertext, tag) = (bytes[3], bytes[4])
    guard let key = AES256KeyWrap.unwrap(wrappedKey.span, under: keys.decryption),
      let contents = AES256GCM.open(
        ciphertext.span, tag: tag.span, nonce: vector.span, additionalData: header.span, key: key)
    else { throw Broken("a token that cannot be opened") }
    let inner = split(contents)
    let ending = try decoded(inner[2])
    guard let signature = ES256Signature(ending.span) else { throw Broken("a signature of another length") }
    return Floor(
      header: header, wrappedKey: wrappedKey, vector: vector, ciphertext: ciphertext, tag: tag,
      signed: inner[0] + [UInt8(ascii: ".")] + inner[1], signature: signature.der)
  }

  private static func split(_ token: [UInt8]) -> [[UInt8]] {
    token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
  }

  private static func decoded(_ part: [UInt8]) throws -> [UInt8] {
    guard let bytes = Base64.decodeURL(part.span) else { throw Broken("a part that is not base64url") }
    return bytes
  }
}
