/// How a software phone comes to belong to a gate, shows what it is, and changes its keys.
internal import Bytes
internal import Crypto
package import DeviceWire
package import Dialing
internal import JSON
internal import PortcullisProtocol
internal import Time

extension SoftwarePhone {
  // MARK: Pairing

  /// A new phone, by what a QR code says. Asks until the operator has decided.
  /// - Parameters:
  ///   - voucher: vouches for the phone's keys.
  ///   - show: is given the digits that the operator has to type.
  package func pair(
    _ uri: PairingURI, name: DeviceName, by voucher: PhoneVoucher?, show: (PairingDigits) -> Void
  ) throws(GateClientError) -> PairingEnd? {
    var machine = PairingMachine(uri, keys, name: name, platform: state.platform)
    var knowsApp = false
    var request = try offer(of: machine, voucher, isKnown: knowsApp)
    var isOffered = false
    let patience = Deadline.after(Self.pairingTime)
    while true {
      let response: GateResponse
      do throws(GateClientError) {
        response = try exchange(request)
      } catch {
        // Said again, an offer gets the same answer; its evidence has a nonce, which is good once.
        guard !patience.hasPassed, error.isLostConnection || error.isTimeout else { throw error }
        pause()
        if !isOffered { request = try offer(of: machine, voucher, isKnown: knowsApp) }
        continue
      }
      if response.status == 429 || response.status == 503, !patience.hasPassed {
        pause()
        if !isOffered { request = try offer(of: machine, voucher, isKnown: knowsApp) }
        continue
      }
      switch machine.take(status: response.status, code: response.errorCode, body: response.body) {
      case .send(let next): request = next
      case .show(let digits, then: let next):
        isOffered = true
        show(digits)
        request = next
      case .askForAssertion where !knowsApp:
        knowsApp = true
        request = try offer(of: machine, voucher, isKnown: true)
      case .paired(let paired):
        try remember { state in
          state.device = paired.device
          state.server = paired.server
          state.pins = paired.pins
          state.appKey = voucher?.appKey
        }
        return nil
      case .ended(let end): return end
      case .askForAssertion, nil: throw .refused(response)
      }
    }
  }

  private func offer(
    of machine: borrowing PairingMachine, _ voucher: PhoneVoucher?, isKnown: Bool
  ) throws(GateClientError) -> PhoneRequest {
    var evidence: PhoneEvidence?
    if let voucher {
      let challenge = try challenge(for: .enroll)
      do {
        evidence = try voucher.evidence(for: keys, challenge, isKnown: isKnown, carriesNonce: true)
      } catch {
        throw .device(error)
      }
    }
    do { return try machine.offer(evidence) } catch { throw .device(.issuing(error)) }
  }

  /// A code is good for five minutes; the operator may type its digits in the last second.
  private static let pairingTime: Duration = .seconds(330)

  private func pause() {
    let clock = SystemClock()
    clock.sleep(until: clock.monotonic() + .seconds(1))
  }

  // MARK: Enrolment

  /// Enrols the phone's keys, which an operator has to confirm where their evidence is not enough.
  package func enroll(by voucher: PhoneVoucher?) throws(GateClientError) -> PhoneStanding {
    let object = try vouched(by: voucher, for: keys, .enroll) { challenge, evidence throws(GateClientError) in
      try self.signing { () throws(IssuingError) in
        try .enroll(
          self.keys, platform: self.state.platform, name: self.state.name, challenge, evidence: evidence)
      }
    }
    guard let device = object["device_id"]?.string.flatMap({ DeviceID($0) }),
      let server = object["server_id"]?.string.flatMap({ ServerID($0) }),
      let standing = PhoneStanding(object), let pins = PhonePins(object)
    else { throw .malformedResponse("not the answer to an enrolment") }
    try remember { state in
      state.device = device
      state.server = server
      state.pins = pins.hashes
      state.token = PhoneToken(object["token"]?.string, expiresAt: nil)
      state.appKey = voucher?.appKey
    }
    return standing
  }

  /// Shows that the app is still the genuine one.
  package func attest(by voucher: PhoneVoucher) throws(GateClientError) -> PhoneStanding {
    let device = try device()
    let object = try vouched(by: voucher, for: keys, .attest) { challenge, evidence throws(GateClientError) in
      guard let evidence else { throw .malformedResponse("no evidence") }
      return try self.signing { () throws(IssuingError) in
        try .attest(device, self.keys, challenge, evidence)
      }
    }
    guard let standing = PhoneStanding(object) else { throw .malformedResponse("no level") }
    try remember { state in
      state.appKey = voucher.appKey
      state.token = PhoneToken(object["device_token"]?.string, expiresAt: nil) ?? state.token
    }
    return standing
  }

  // MARK: Rotation

  /// New keys in the place of the old ones, which are kept until the gate has taken them: an answer may be lost.
  package func rotate(by voucher: PhoneVoucher?) throws(GateClientError) -> PhoneStanding? {
    let device = try device()
    if state.newKeys == nil {
      let texts: PhoneState.KeyTexts
      do { texts = try Self.makeKeys(withApproval: keys.approval != nil).1 } catch { throw .device(error) }
      try remember { $0.newKeys = texts }
    } else if try isRotated() {
      return nil
    }
    guard let texts = state.newKeys else { return nil }
    let new = try signing(texts.keys)
    let object = try vouched(by: voucher, for: new, .rotate) { challenge, evidence throws(GateClientError) in
      try self.signing { () throws(IssuingError) in
        try .rotate(device, from: self.keys, to: new, challenge, evidence: evidence)
      }
    }
    guard let standing = PhoneStanding(object) else { throw .malformedResponse("no level") }
    try takeNewKeys(PhoneToken(object["token"]?.string, expiresAt: nil))
    try heedPins(in: object)
    return standing
  }

  /// Whether the gate has taken the new keys in a rotation whose answer was lost.
  private func isRotated() throws(GateClientError) -> Bool {
    guard let texts = state.newKeys else { return false }
    do {
      try takeNewKeys(token(for: .gate, by: signing(texts.keys)))
      return true
    } catch .refused(let response) where response.errorCode == RefusalCode.signatureRejected.rawValue {
      return false
    }
  }

  private func takeNewKeys(_ token: PhoneToken?) throws(GateClientError) {
    try remember { state in
      if let keys = state.newKeys { state.keys = keys }
      state.newKeys = nil
      state.token = token
    }
  }

  // MARK: Evidence

  /// The answer to a request with evidence: App Attest's is an attestation the first time, and an assertion of a key that
  /// the gate knows.
  private func vouched(
    by voucher: PhoneVoucher?, for keys: PhoneKeys, _ purpose: PhoneChallengePurpose,
    _ make: (PhoneChallenge, PhoneEvidence?) throws(GateClientError) -> PhoneRequest
  ) throws(GateClientError) -> JSONObject {
    guard let voucher else { return try object(make(challenge(for: purpose), nil)) }
    var isKnown = voucher.appKey != nil && state.appKey == voucher.appKey
    while true {
      let challenge = try challenge(for: purpose)
      let evidence: PhoneEvidence
      do { evidence = try voucher.evidence(for: keys, challenge, isKnown: isKnown) } catch {
        throw .device(error)
      }
      do {
        return try object(make(challenge, evidence))
      } catch .refused(let response)
        where !isKnown && response.errorCode == RefusalCode.keyKnown.rawValue
      {
        isKnown = true
      }
    }
  }
}

extension GateClientError {
  var isTimeout: Bool {
    if case .timedOut = self { true } else { false }
  }
}
