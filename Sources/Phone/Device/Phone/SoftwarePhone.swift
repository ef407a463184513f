/// A phone in software: holds its state in a file, talks to one gate, and does what a person at it wants.
internal import Crypto
package import DeviceWire
package import Dialing
internal import JSON
internal import PortcullisProtocol
internal import System
internal import Time

package final class SoftwarePhone {
  package private(set) var state: PhoneState
  package private(set) var keys: PhoneKeys
  let file: PhoneStateFile
  let client: GateClient

  private init(_ state: PhoneState, _ keys: PhoneKeys, _ file: PhoneStateFile, _ client: GateClient) {
    self.state = state
    self.keys = keys
    self.file = file
    self.client = client
  }

  // MARK: Life cycle

  /// A phone that no gate knows yet, with keys of its own. A phone that belongs to a gate is not written over.
  package static func create(
    at path: String, for gate: GateURL, trust: ServerTrust, platform: DevicePlatform, name: DeviceName?,
    withApproval: Bool, timeout: Duration
  ) throws(GateClientError) -> SoftwarePhone {
    let client = try GateClient(gate, trust: trust, timeout: timeout)
    let file = PhoneStateFile(path: path)
    do throws(DeviceError) {
      let (keys, texts) = try Self.makeKeys(withApproval: withApproval)
      var state = PhoneState(
        host: gate.host, port: gate.port, platform: platform, name: name, keys: texts)
      if case .publicKeys(let pins) = trust { state.pins = pins }
      // What a pairing that came to nothing has left behind.
      let isUnused = WholeFile.exists(path) ? try file.read().device == nil : false
      try file.write(state, isNew: !isUnused)
      return SoftwarePhone(state, keys, file, client)
    } catch {
      throw .device(error)
    }
  }

  /// - Parameter trust: for a phone that has no pins.
  package static func load(
    from path: String, trust: ServerTrust, timeout: Duration
  ) throws(GateClientError) -> SoftwarePhone {
    let file = PhoneStateFile(path: path)
    let state: PhoneState
    let keys: PhoneKeys
    do throws(DeviceError) {
      state = try file.read()
      do { keys = try state.keys.keys() } catch { throw .unusable(path: path, reason: error.description) }
    } catch {
      throw .device(error)
    }
    let client = try GateClient(
      GateURL(host: state.host, port: state.port),
      trust: state.pins.isEmpty ? trust : .publicKeys(state.pins), timeout: timeout)
    return SoftwarePhone(state, keys, file, client)
  }

  static func makeKeys(withApproval: Bool) throws(DeviceError) -> (PhoneKeys, PhoneState.KeyTexts) {
    do {
      let keys = try PhoneKeys.generate(withApproval: withApproval)
      return (keys, try PhoneState.KeyTexts(keys))
    } catch {
      throw .issuing(error)
    }
  }

  /// Changes what is remembered, on disk first.
  func remember(_ change: (inout PhoneState) -> Void) throws(GateClientError) {
    var state = state
    change(&state)
    do throws(DeviceError) {
      try file.write(state)
      if state.keys != self.state.keys {
        do { keys = try state.keys.keys() } catch { throw .issuing(error) }
      }
    } catch {
      throw .device(error)
    }
    self.state = state
  }

  // MARK: Requests

  /// The gate's answer, whatever it is.
  func exchange(_ request: PhoneRequest) throws(GateClientError) -> GateResponse {
    var fields: [GateResponse.Field] = []
    if request.needsToken {
      fields.append(GateResponse.Field("Authorization", "Bearer \(try freshToken().text)"))
    }
    if request.body != nil { fields.append(GateResponse.Field("Content-Type", "application/json")) }
    return try client.send(
      method: request.method, path: request.path, fields: fields, body: request.body,
      wait: .seconds(request.waitSeconds))
  }

  /// A good answer; any other is `GateClientError.refused`. A token that the gate has ended is renewed once.
  func ask(_ request: PhoneRequest) throws(GateClientError) -> GateResponse {
    var response = try exchange(request)
    if request.needsToken, response.errorCode == RefusalCode.tokenRejected.rawValue {
      try remember { $0.token = nil }
      response = try exchange(request)
    }
    guard response.status == 200 else { throw .refused(response) }
    return response
  }

  func object(_ request: PhoneRequest) throws(GateClientError) -> JSONObject {
    let response = try ask(request)
    guard let object = (try? JSONValue(parsing: response.body.span, depthLimit: 16))?.object else {
      throw .malformedResponse("not a JSON object")
    }
    return object
  }

  func challenge(for purpose: PhoneChallengePurpose) throws(GateClientError) -> PhoneChallenge {
    guard let challenge = PhoneChallenge(try object(.challenge(for: purpose))) else {
      throw .malformedResponse("not a challenge; does the gate have DEVICES_PATH set?")
    }
    guard state.server == nil || state.server == challenge.server else {
      throw .untrusted("this phone belongs to another gate than \(challenge.server)")
    }
    return challenge
  }

  /// The phone's id, once it has one.
  func device() throws(GateClientError) -> DeviceID {
    guard let device = state.device else {
      throw .device(.unusable(path: file.path, reason: "this phone belongs to no gate: pair or enroll it"))
    }
    return device
  }

  func signing<Result>(_ make: () throws(IssuingError) -> Result) throws(GateClientError) -> Result {
    do { return try make() } catch { throw .device(.issuing(error)) }
  }

  /// Keys that the gate will show from now on. They came over a connection whose key was pinned already, or which an
  /// authority has vouched for.
  func heedPins(in object: JSONObject) throws(GateClientError) {
    guard let pins = PhonePins(object), pins.hashes != state.pins else { return }
    try remember { $0.pins = pins.hashes }
  }

  // MARK: Tokens

  private func freshToken() throws(GateClientError) -> PhoneToken {
    if let token = state.token, token.isGood(at: SystemClock().wall().seconds) { return token }
    return try token()
  }

  /// A new token. One for the gate itself is kept.
  @discardableResult
  package func token(for audience: Audience = .gate) throws(GateClientError) -> PhoneToken {
    let token = try token(for: audience, by: keys)
    if audience.isGate { try remember { $0.token = token } }
    return token
  }

  func token(for audience: Audience, by keys: PhoneKeys) throws(GateClientError) -> PhoneToken {
    let device = try device()
    let challenge = try challenge(for: .device)
    let request = try signing { () throws(IssuingError) in
      try PhoneRequest.token(device, keys, challenge, audience: audience)
    }
    let object = try object(request)
    try heedPins(in: object)
    guard let token = PhoneToken(object["token"]?.string, expiresAt: object["expires_at"]?.integer) else {
      throw .malformedResponse("not a token")
    }
    return token
  }
}
