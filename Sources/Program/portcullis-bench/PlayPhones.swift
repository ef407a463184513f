/// Android phones of a registry, and the tokens of Play Integrity by which they attest again: one JSON body a line for challenges
/// that a gate has issued, for the load generator.
internal import Bytes
internal import Crypto
internal import Device
internal import DeviceTokens
internal import DeviceWire
internal import JSON
internal import Registry
internal import System
internal import Time

enum PlayPhones {
  /// Active phones that nothing vouches for yet.
  /// - Parameter path: of a file with each one's id and device key, for `attest`.
  static func make(folder: String, count: Int, path: String) throws -> Report {
    let store = try RegistryDatabase("\(folder)/devices.db")
    defer { store.close() }
    let (now, verifier) = (SystemClock().wall(), P256Verifier())
    var text = ""
    try store.begin()
    for _ in 0..<count {
      guard let key = DevicePublicKey(try TokenKey.generate().point, checkedBy: verifier),
        let keys = DeviceKeys(device: key, approval: nil)
      else { throw Broken("a phone cannot be made") }
      var device = DeviceRecord(
        id: DeviceID(random: KernelEntropy()), state: .active, subject: nil, name: nil, platform: .android,
        keys: keys, level: .bare, verification: .none, createdAt: now)
      device.activatedAt = now
      try store.insert(device)
      text += "\(device.id.text) \(Base64.encode(key.spki.span))\n"
    }
    try store.commit()
    try WholeFile.write(Array(text.utf8), to: path, mode: 0o600, overwriting: true)
    return Report(("phones", Double(count)))
  }

  /// - Parameters:
  ///   - authority: the folder of `dev-certs`.
  ///   - app: as `ANDROID_APPS` names one.
  ///   - server: the gate's id.
  static func attest(
    authority folder: String, app: String, server: String, phonesPath: String, noncesPath: String,
    bodiesPath: String
  ) throws -> Report {
    let service = try TestPlayService.load(from: folder)
    let now = SystemClock().wall()
    guard let app = try AndroidApp.list(parsing: app).first, let server = ServerID(server) else {
      throw Broken("no app, or no server")
    }
    let phones = try phones(in: phonesPath)
    let nonces = try WholeFile.lines(noncesPath)
    var bodies: [UInt8] = []
    for (number, nonce) in nonces.enumerated() {
      guard let nonce = Bytes32(hex: String(decoding: nonce, as: UTF8.self)) else {
        throw Broken("not a nonce")
      }
      let (id, keys) = phones[number % phones.count]
      let message = DeviceMessage.playNonce(server: server, keys: keys, nonce: nonce)
      let claims = TestPlayService.Claims(
        package: app.package, signers: Array(app.digests), nonce: message.hash, time: now)
      var json = JSONWriter()
      json.beginObject()
      for (name, value) in [
        ("attestation_type", "play_integrity"), ("device_id", id.text), ("nonce", nonce.hex),
        ("jws_token", try service.token(claims)),
      ] {
        json.name(name)
        json.value(value)
      }
      json.endObject()
      bodies += json.bytes + [UInt8(ascii: "\n")]
    }
    try WholeFile.write(bodies, to: bodiesPath, mode: 0o600, overwriting: true)
    return Report(("bodies", Double(nonces.count)))
  }

  private static func phones(in path: String) throws -> [(id: DeviceID, keys: DeviceKeys)] {
    let verifier = P256Verifier()
    return try WholeFile.lines(path).map { line in
      let words = String(decoding: line, as: UTF8.self).split(separator: " ").map(String.init)
      guard words.count == 2, let id = DeviceID(words[0]),
        let key = DevicePublicKey(base64: words[1], checkedBy: verifier),
        let keys = DeviceKeys(device: key, approval: nil)
      else { throw Broken("not a phone") }
      return (id, keys)
    }
  }
}
