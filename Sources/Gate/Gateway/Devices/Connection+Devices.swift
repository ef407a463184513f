/// Requests about devices on a connection: what can be judged of them here, their way to the registry's queue, and its
/// answer (docs/protocol-devices.md, "Devices").
internal import Addresses
internal import Admission
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import HTTPWire
internal import PortcullisProtocol
internal import Registry
internal import Requests
internal import System
internal import Telemetry
internal import Time

extension Connection {
  func serve(
    _ found: DeviceEndpoint.Found, of devices: Devices, _ head: RequestHead, _ exchange: Exchange
  ) {
    exchange.trace = TraceID(head, entropy: loop.shared.entropy)
    exchange.provesByDevice = true
    switch found {
    case .notFound: refuse(Refusal(.notFound, step: "path"), to: head)
    case .methodNotAllowed(let allow):
      refuse(Refusal(.methodNotAllowed, step: "method", allow: allow), to: head)
    case .keySet:
      respond(Response(.ok, json: devices.admitted.keySet, keptFor: Self.keySetSeconds), to: head)
    case .endpoint(let endpoint):
      do throws(Refusal) {
        let request = try request(for: endpoint, of: devices, head, exchange)
        if endpoint.hasBody { return expectBody(of: head, for: .device(request), exchange) }
        begin(request, head, exchange)
      } catch {
        devices.registry.note(refusal: error.code)
        refuse(error, to: head)
      }
    }
  }

  /// Verifiers may keep the keys for so long: the next one is published a day before it signs.
  private static let keySetSeconds = 600

  // MARK: What the head says

  private func request(
    for endpoint: DeviceEndpoint, of devices: Devices, _ head: RequestHead, _ exchange: Exchange
  ) throws(Refusal) -> DeviceRequest {
    let token = BearerToken(head)
    let service = token.flatMap { $0.isDeviceToken ? nil : devices.admitted.service($0) }
    exchange.isOfService = service != nil
    if loop.isDraining { throw Refusal(.shuttingDown, step: "draining") }
    let query: DeviceQuery
    do throws(DeviceQuery.Malformed) {
      query = try DeviceQuery(head.query, allowing: endpoint.row.queryNames)
    } catch {
      throw Refusal(.badRequest, step: error.rawValue)
    }
    var request = DeviceRequest(
      endpoint: endpoint, query: query, clientVersion: head.value(HeaderName.clientVersion))
    switch endpoint.row.bearer(query) {
    case .nobody: try payAsAnybody()
    case .device:
      guard let token, token.isDeviceToken else { throw Refusal(.tokenRejected, step: "bearer") }
      let hash = SHA256.hash(Array(token.text.utf8).span)
      if let device = loop.shared.acceptedTokens.device(of: hash) {
        try pay(from: loop.shared.deviceRates, device, loop.settings.deviceAllowance, .deviceRate)
        request.device = device
      } else {
        // Anybody can invent one after the other, and none that says to be a device's uses up what that one has.
        try payAsStranger()
        try pay(from: loop.shared.deviceRates, hash, loop.settings.deviceAllowance, .deviceRate)
        request.strangeToken = hash
      }
      request.bearer = token
    case .service:
      guard let token, let service else {
        try payAsAnybody()
        throw Refusal(.tokenRejected, step: "bearer")
      }
      try pay(from: loop.shared.serviceRates, service, loop.settings.serviceAllowance, .serviceRate)
      (request.bearer, request.service) = (token, service)
    }
    return request
  }

  private func payAsAnybody() throws(Refusal) {
    try pay(from: loop.shared.registerRates, payer, loop.settings.registerAllowance, .registerRate)
  }

  /// Many phones are behind one address at home, and each has a new token now and then.
  private func payAsStranger() throws(Refusal) {
    try pay(
      from: loop.shared.challengeRates, payer, loop.settings.challengeAllowance, .challengeRate,
      step: "stranger_rate")
  }

  private func pay(
    from rates: RateTable, _ owner: some Hashable, _ allowance: RateTable.Allowance, _ limit: RateLimit,
    step: String? = nil
  ) throws(Refusal) {
    guard let wait = rates.take(owner, allowance, now: loop.now) else { return }
    throw .limited(limit, step: step, retryAfter: wait)
  }

  /// A request that is whole with its head.
  private func begin(_ request: DeviceRequest, _ head: RequestHead, _ exchange: Exchange) {
    if head.isChunked || (head.bodyLength ?? 0) > 0 {
      return refuse(Refusal(.badRequest, step: "body"), to: head)
    }
    let pending = PendingRequest(
      RequestID(number: loop.nextRequestNumber()), .device(request), head, now: loop.now)
    exchange.work(on: pending)
    work(on: pending, [])
  }

  // MARK: The registry

  /// Hands the request on; `answered` is told what came of it. Or says why not.
  func ask(_ request: DeviceRequest, _ body: [UInt8], for pending: PendingRequest) -> Refusal? {
    guard let devices = loop.shared.devices else { return Refusal(.notFound, step: "path") }
    return counted(devices) { () throws(Refusal) in
      switch try step(of: request, body, for: pending, devices) {
      case .call(let call):
        try submit(call, request, for: pending, devices)
        pending.spent = nil
      case .permission(let call, let work):
        pending.evidenceToJudge = work
        try submit(call, request, for: pending, devices)
      case .keys(let form):
        pending.attests = form
        try submit(FindAttestedKeys(form.device, on: form.evidence.platform), request, for: pending, devices)
      }
    }
  }

  /// The refusal of `body`, if it refuses: nobody knows who was refused, but the audit counts it.
  private func counted(_ devices: Devices, _ body: () throws(Refusal) -> Void) -> Refusal? {
    do throws(Refusal) {
      try body()
      return nil
    } catch {
      devices.registry.note(refusal: error.code)
      return error
    }
  }

  private func submit(
    _ call: any RegistryCall, _ request: DeviceRequest, for pending: PendingRequest, _ devices: Devices
  ) throws(Refusal) {
    let (mailbox, token, id) = (loop.mailbox, token, pending.id)
    let lane = request.service.map { Lane.service($0) } ?? .address(payer)
    var bearer: (@Sendable (DeviceID) -> Void)?
    if let strange = request.strangeToken {
      bearer = { device in mailbox.leave(.token(strange, of: device)) }
    }
    let handle = devices.registry.submit(
      call, lane: lane, origin: .address(source.address), wait: request.wait,
      clientVersion: request.clientVersion, bearer: bearer
    ) { reply in mailbox.leave(.answer(token, id, .registry(reply))) }
    guard let handle else { throw Refusal(.overloaded, step: "registry_queue") }
    workGoesOn(id, until: loop.now + Self.registryTimeout + (request.wait ?? .zero))
    if request.wait != nil {
      pending.poll = handle
      loop.noLongerPending(self)
    }
  }

  /// The registry answers within milliseconds; a disk that needs so long is failing.
  static let registryTimeout: Duration = .seconds(10)

  /// What the registry has come to.
  func answered(_ reply: Reply, to request: DeviceRequest, _ pending: PendingRequest) {
    switch reply {
    case .answered(let bytes): respond(to: request, bytes, pending)
    case .value(let answer): respond(to: request, answer.json, pending)
    case .keys(let keys):
      if let form = pending.attests.take() { attest(form, over: keys, for: pending) }
    case .created(let json):
      loop.shared.log.answered(peerName, endpoint: request.endpoint.row.word)
      respond(Response(.created, json: json), closing: pending.closesAfterAnswer)
    case .permitted:
      if let work = pending.evidenceToJudge.take() { attest(work, for: pending) }
    case .refused(let refusal):
      refuse(Refusal(refusal), of: pending)
    }
  }

  private func respond(to request: DeviceRequest, _ json: [UInt8], _ pending: PendingRequest) {
    let row = request.endpoint.row
    if row.changesSomething {
      loop.shared.log.answered(peerName, endpoint: row.word)
    }
    respond(Response(.ok, json: json), closing: pending.closesAfterAnswer)
  }

  /// Nobody waits for the answer any more. Only what changes nothing is taken back.
  func abandon(_ exchange: Exchange) {
    guard let handle = exchange.poll else { return }
    loop.shared.devices?.registry.cancel(handle)
  }

  // MARK: Evidence

  /// The registry has nothing against it.
  private func attest(_ work: EvidenceWork, for pending: PendingRequest) {
    guard let devices = loop.shared.devices else { return }
    let refusal = counted(devices) { () throws(Refusal) in try judge(work, for: pending) }
    if let refusal { refuse(refusal, of: pending) }
  }

  /// - Parameter keys: those that the evidence has to name.
  private func attest(_ form: AttestForm, over keys: AttestedKeys, for pending: PendingRequest) {
    guard let devices = loop.shared.devices else { return }
    let refusal = counted(devices) { () throws(Refusal) in
      try judge(try evidence(form, over: keys), for: pending)
    }
    if let refusal { refuse(refusal, of: pending) }
  }

  /// The evidence is good, and counts: of an App Attest key the counter stands.
  func attested(_ evidence: VerifiedEvidence, _ request: DeviceRequest, _ pending: PendingRequest) {
    guard let devices = loop.shared.devices, let work = pending.evidence.take() else { return }
    let refusal = counted(devices) { () throws(Refusal) in
      try submit(work.call(evidence), request, for: pending, devices)
    }
    if let refusal { refuse(refusal, of: pending) }
  }

  /// The evidence is none: the device, if there is one, has failed to attest, which has a row of its own in the audit. All
  /// others are counted.
  func evidenceFailed(_ refusal: Refusal, _ pending: PendingRequest) {
    guard let devices = loop.shared.devices, let work = pending.evidence.take() else { return }
    if refusal.code == .attestationRejected, let failure = work.failure {
      // Nobody waits for it.
      let handle = devices.registry.submit(
        failure.because(refusal.step, blaming: work.form.blame(whereFailing: refusal.step)),
        lane: .address(payer), origin: .address(source.address)
      ) { _ in }
      if handle != nil { return }
    }
    devices.registry.note(refusal: refusal.code)
  }
}
