/// Registrations of new devices for challenges that a gate has issued, one JSON body a line, for the load
/// generator.
internal import Bytes
internal import Crypto
internal import Device
internal import Identity
internal import JSON
internal import PortcullisProtocol
internal import System
internal import Time

enum RegistrationBodies {
  static func make(
    authority folder: String, appID: String, noncesPath: String, bodiesPath: String
  ) throws -> Report {
    let authority = try TestAttestationAuthority.load(from: folder)
    let now = SystemClock().wall()
    let nonces = try WholeFile.lines(noncesPath)
    var bodies: [UInt8] = []
    for nonce in nonces {
      guard let bytes = Hex.decode(Array(nonce).span), bytes.count == 32 else { throw Broken("not a nonce") }
      let enclave = try SoftwareEnclave.generate(appID: appID, environment: .production)
      let attestation = try enclave.attest(
        clientDataHash: SHA256.hash(bytes.span), by: authority, now: now)
      var writer = JSONWriter()
      writer.beginObject()
      writer.name(MemberName.keyID)
      writer.value(enclave.keyIdentifier.base64)
      writer.name(MemberName.attestation)
      writer.value(Base64.encode(attestation.span))
      writer.name(MemberName.clientData)
      writer.value(String(decoding: nonce, as: UTF8.self))
      writer.endObject()
      bodies += writer.bytes
      bodies.append(UInt8(ascii: "\n"))
    }
    try WholeFile.write(bodies, to: bodiesPath, mode: 0o600, overwriting: true)
    return Report(("bodies", Double(nonces.count)))
  }
}
