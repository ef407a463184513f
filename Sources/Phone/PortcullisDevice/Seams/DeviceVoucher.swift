/// The seam between a device and what vouches for its keys: App Attest, Play Integrity, or the keys' own hardware.
public import PortcullisProtocol

/// A gate's challenge, and which gate has issued it.
public struct DeviceChallenge: Equatable, Sendable {
  /// Good once.
  public let nonce: Octets32
  /// Who asks.
  public let server: ServerID

  /// - Parameters:
  ///   - nonce: good once.
  ///   - server: who asks.
  public init(nonce: Octets32, server: ServerID) {
    self.nonce = nonce
    self.server = server
  }

  /// From the body of the gate's answer.
  package init?(json: [UInt8]) {
    guard let object = (try? JSONTree(parsing: json, depthLimit: 4))?.object else { return nil }
    self.init(object)
  }

  init?(_ object: JSONTree.Object) {
    guard let nonce = object["nonce"]?.string.flatMap({ Octets32(hex: $0) }),
      let server = object["server_id"]?.string.flatMap({ ServerID($0) })
    else { return nil }
    self.init(nonce: nonce, server: server)
  }
}

/// What vouches for keys, as requests carry it (docs/devices-messages.md).
public enum DeviceEvidence: Equatable, Sendable {
  /// App Attest, of a key that the gate does not know yet: CBOR, and the key's id in base64.
  case attestation([UInt8], keyID: String)
  /// App Attest, of a key that it knows: CBOR, and the key's id in base64.
  case assertion([UInt8], keyID: String)
  /// Play Integrity, of an app that names the keys.
  case playIntegrity(String)
  /// Android Key Attestation, of the keys themselves: each with its chain, from the leaf to the root.
  case keyChains(device: [[UInt8]], approval: [[UInt8]]?)

  /// - Parameter nonce: where it stands beside a request's own.
  func form(nonce: Octets32? = nil) -> JSONForm {
    var form = JSONForm()
    switch self {
    case .attestation(let bytes, let key):
      form.add("attestation_type", "app_attest")
      form.add("key_id", key)
      form.add("att_obj", ByteText.base64URL(bytes))
    case .assertion(let bytes, let key):
      form.add("attestation_type", "app_attest")
      form.add("key_id", key)
      form.add("assertion", ByteText.base64URL(bytes))
    case .playIntegrity(let token):
      form.add("attestation_type", "play_integrity")
      form.add("jws_token", token)
    case .keyChains(let device, let approval):
      form.add("attestation_type", "android_key")
      form.add("x5c", device.map(ByteText.base64URL))
      form.add("approval_x5c", approval?.map(ByteText.base64URL))
    }
    form.add("nonce", nonce?.hex)
    return form
  }
}

/// Makes evidence.
public protocol DeviceVoucher: Sendable {
  /// Of App Attest: the app's key, in base64; it is remembered once the gate has heard of it. Nil: it says the same at each time.
  var appKeyID: String? { get async }

  /// - Parameters:
  ///   - points: the keys to vouch for.
  ///   - challenge: what it is for.
  ///   - isKnown: whether the gate has the app's key already, which then signs an assertion.
  func evidence(
    for points: DevicePoints, _ challenge: DeviceChallenge, isKnown: Bool
  ) async throws -> DeviceEvidence

  /// The gate has answered the request that carried the evidence, or there will be no answer.
  func answered(isAccepted: Bool) async
}

extension DeviceVoucher {
  /// Most have nothing to wait for.
  public func answered(isAccepted: Bool) async {}
}
