/// The devices of the demonstration's gate: its registry, and the orders that an operator gives it.
internal import ApprovalPolicy
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import Gateway
internal import JSON
internal import Logs
internal import PortcullisProtocol
internal import Registry
internal import System
internal import Time

final class Office {
  let devices: Devices
  private let pins: [PublicKeyPin]

  /// - Parameter certificatePEM: the gate's own, whose key phones are told of.
  init(in folder: String, certificatePEM: [UInt8], log: GateLog) throws {
    pins = [try PublicKeyPin.ofCertificate(inPEM: certificatePEM.span)]
    let admitted = AdmittedDevices(level: .bare, log: log)
    let registry = try Registry(
      try RegistryDatabase(folder + "/devices.db"), settings: Self.settings("https://localhost", pins),
      clock: SystemClock(), entropy: KernelEntropy(), listener: admitted)
    devices = Devices(registry: registry, admitted: admitted)
    try registry.begin()
  }

  /// The gate listens: codes name its port from now on.
  func announce(_ url: String) throws {
    devices.registry.reload(try Self.settings(url, pins))
  }

  private static func settings(_ url: String, _ pins: [PublicKeyPin]) throws -> RegistrySettings {
    var settings = RegistrySettings(publicURL: url)
    settings.pins = pins
    settings.doorLevel = .bare
    let policy = Array(
      #"{"rules": [{"match": {"operation": "promote"}}, {"match": {"operation": "shutdown"}, "factors": ["operator"]}]}"#
        .utf8)
    // Whoever is at the terminal.
    settings.approvalOperators = [Account.effectiveUser]
    settings.approvals = try ApprovalPolicy(parsing: policy.span)
    return settings
  }

  /// What the registry says to an order, as over the control socket.
  func order(_ verb: OperatorVerb, _ arguments: [(name: String, value: JSONValue)] = []) throws -> JSONObject
  {
    let answered = Monitor<Reply?>(nil)
    let handle = devices.registry.submit(
      try OperatorOrder.call(verb, JSONObject(arguments)), lane: .host,
      origin: .process(user: 0, process: 0)
    ) { reply in
      answered.withLock { state, wake in
        state = reply
        wake.all()
      }
    }
    guard handle != nil else {
      throw DemonstrationFailure(description: "\(verb.rawValue): the registry is busy")
    }
    let patience = SystemClock().monotonic() + .seconds(10)
    let reply = answered.wait(until: patience) { state -> Waited<Reply> in state.map { .done($0) } ?? .wait }
    switch reply {
    case .refused(let refusal):
      throw DemonstrationFailure(description: "\(verb.rawValue): \(refusal.code.rawValue)")
    case nil: throw DemonstrationFailure(description: "\(verb.rawValue): no answer")
    case let reply?:
      guard let json = reply.json, let object = try JSONValue(parsing: json.span, depthLimit: 16).object
      else {
        throw DemonstrationFailure(description: "\(verb.rawValue): not an object")
      }
      return object
    }
  }

  func stop() {
    devices.registry.stop()
  }
}
