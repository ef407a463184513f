/// What a verifier knows of a message, read from a case's fields; with the keys it becomes the message.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import JSON

struct MessageRecord {
  let required: [KeyRole]
  let optional: [KeyRole]
  /// Those of them that sign.
  let signers: [KeyRole]
  private let build: ([KeyRole: DevicePublicKey]) throws(MessageStep) -> DeviceMessage

  init(_ domain: DeviceMessage.Domain, _ fields: JSONObject) throws(MessageStep) {
    let fields = MessageFields(object: fields)
    switch domain {
    case .enroll, .appAttest, .playNonce, .pair:
      required = [.device]
      optional = [.approval]
      signers = domain == .enroll || domain == .pair ? [.device, .approval] : []
    case .deviceAuth, .otpIssue, .presence:
      required = [.device]
      optional = []
      signers = [.device]
    case .rotate:
      required = [.device, .newDevice]
      optional = [.newApproval]
      signers = [.device, .newDevice, .newApproval]
    case .approval:
      required = [.approval]
      optional = []
      signers = [.approval]
    case .pairSAS, .androidKey:
      required = []
      optional = []
      signers = []
    // The gate signs it, no device.
    case .auditHead: throw .fields
    }
    build = try fields.builder(domain)
  }

  func message(_ keys: [KeyRole: DevicePublicKey]) throws(MessageStep) -> DeviceMessage { try build(keys) }
}

private struct MessageFields {
  let object: JSONObject

  typealias Builder = ([KeyRole: DevicePublicKey]) throws(MessageStep) -> DeviceMessage

  func builder(_ domain: DeviceMessage.Domain) throws(MessageStep) -> Builder {
    switch domain {
    case .enroll:
      let server: ServerID = try id("server_id")
      let nonce = try hash("nonce_hex")
      let platform: DevicePlatform = try word("platform")
      return { (keys) throws(MessageStep) in
        .enroll(server: server, keys: try pair(keys), nonce: nonce, platform: platform)
      }
    case .pair: return try pairing()
    case .pairSAS: return try digits()
    case .deviceAuth:
      let server: ServerID = try id("server_id")
      let device: DeviceID = try id("device_id")
      let nonce = try hash("nonce_hex")
      let word: AuthPurpose = try word("purpose")
      guard let audience = Audience(try text("audience")),
        let purpose = DeviceAuthPurpose(word, audience: audience)
      else { throw .fields }
      return { (_) in .deviceAuth(server: server, device: device, nonce: nonce, for: purpose) }
    case .rotate:
      let server: ServerID = try id("server_id")
      let device: DeviceID = try id("device_id")
      let nonce = try hash("nonce_hex")
      return { (keys) throws(MessageStep) in
        .rotate(
          server: server, device: device, newKeys: try pair(keys, .newDevice, .newApproval), nonce: nonce)
      }
    case .approval: return try approval()
    case .appAttest:
      let server: ServerID = try id("server_id")
      let nonce = try hash("nonce_hex")
      return { (keys) throws(MessageStep) in
        .appAttest(server: server, keys: try pair(keys), nonce: nonce)
      }
    case .androidKey:
      let server: ServerID = try id("server_id")
      let nonce = try hash("nonce_hex")
      return { (_) in .androidKey(server: server, nonce: nonce) }
    case .playNonce:
      let server: ServerID = try id("server_id")
      let nonce = try hash("nonce_hex")
      return { (keys) throws(MessageStep) in
        .playNonce(server: server, keys: try pair(keys), nonce: nonce)
      }
    case .otpIssue: return try code()
    case .presence:
      let server: ServerID = try id("server_id")
      let device: DeviceID = try id("device_id")
      let desktop: DesktopID = try id("desktop_id")
      let nonce = try hash("nonce_hex")
      let time = try time("signed_at")
      return { (_) in
        .presence(server: server, device: device, desktop: desktop, nonce: nonce, signedAt: time)
      }
    case .auditHead: throw .fields
    }
  }

  private func pairing() throws(MessageStep) -> Builder {
    let pairing: PairingID = try id("pairing_id")
    let serverKeyHash = try hash("server_spki_sha256_hex")
    let commit = try hash("commit_hex")
    guard let name = DeviceName(try text("device_name")) else { throw .fields }
    return { (keys) throws(MessageStep) in
      .pair(
        pairing: pairing, serverKeyHash: serverKeyHash, keys: try pair(keys), commit: commit, name: name)
    }
  }

  private func digits() throws(MessageStep) -> Builder {
    let text = try text("pair_message_hex")
    guard let message = Hex.decode(Array(text.utf8).span) else { throw .fields }
    let commit = try hash("commit_hex")
    let s = try hash("s_hex")
    let r = try hash("r_hex")
    return { (_) throws(MessageStep) in
      guard SHA256.hash(r) == commit else { throw .commit }
      return .pairSAS(pairMessageHash: SHA256.hash(message.span), s: s, r: r)
    }
  }

  private func approval() throws(MessageStep) -> Builder {
    let server: ServerID = try id("server_id")
    let request: ApprovalID = try id("request_id")
    let device: DeviceID = try id("device_id")
    let number = try integer("decision")
    guard let decision = UInt8(exactly: number).flatMap({ Decision(byte: $0) }),
      let code = MatchCode(try text("match_code")), let vote = Vote(decision, matchCode: code)
    else { throw .fields }
    let base64 = try text("summary_b64")
    guard let summary = Base64.decode(Array(base64.utf8).span) else { throw .fields }
    let issuedAt = try time("issued_at")
    let expiresAt = try time("expires_at")
    return { (_) in
      .approval(
        server: server, request: request, device: device, vote: vote,
        summaryHash: SHA256.hash(summary.span), issuedAt: issuedAt, expiresAt: expiresAt)
    }
  }

  private func code() throws(MessageStep) -> Builder {
    let server: ServerID = try id("server_id")
    let device: DeviceID = try id("device_id")
    let challenge: CodeChallengeID = try id("challenge_id")
    let nonce = try hash("nonce_hex")
    let time = try time("signed_at")
    let sent = try text("signals")
    return { (_) throws(MessageStep) in
      guard let signals = Signals(base64: sent) else { throw .signals }
      return .otpIssue(
        server: server, device: device, challenge: challenge, nonce: nonce, signedAt: time,
        signalsHash: signals.hash)
    }
  }

  private func pair(
    _ keys: [KeyRole: DevicePublicKey], _ device: KeyRole = .device, _ approval: KeyRole = .approval
  ) throws(MessageStep) -> DeviceKeys {
    guard let key = keys[device] else { throw .publicKey }
    guard let pair = DeviceKeys(device: key, approval: keys[approval]) else { throw .sameKey }
    return pair
  }

  // MARK: Values

  private func text(_ name: String) throws(MessageStep) -> String {
    guard let text = object[name]?.string else { throw .fields }
    return text
  }

  private func integer(_ name: String) throws(MessageStep) -> Int64 {
    guard let integer = object[name]?.integer else { throw .fields }
    return integer
  }

  private func id<Kind>(_ name: String) throws(MessageStep) -> Identifier<Kind> {
    guard let id = Identifier<Kind>(try text(name)) else { throw .fields }
    return id
  }

  private func hash(_ name: String) throws(MessageStep) -> Bytes32 {
    guard let hash = Bytes32(hex: try text(name)) else { throw .fields }
    return hash
  }

  private func time(_ name: String) throws(MessageStep) -> UnixSeconds {
    guard let time = UnixSeconds(try integer(name)) else { throw .fields }
    return time
  }

  private func word<Word: RawRepresentable>(_ name: String) throws(MessageStep) -> Word
  where Word.RawValue == String {
    guard let word = Word(rawValue: try text(name)) else { throw .fields }
    return word
  }
}
