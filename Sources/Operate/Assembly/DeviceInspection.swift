/// Looks at what devices need of the host and of their files, and tells all that is wrong with it (docs/settings.md,
/// "Problems").
package import ApprovalPolicy
import Bytes
package import Configuration
import Confinement
import Control
package import Crypto
package import DeviceWire
package import GeoDatabase
package import Prompt
import Registry
package import Risk
import System

/// What a configuration's files of devices hold; read anew at each reload.
package struct DeviceFiles {
  package var approvals = ApprovalPolicy.none
  package var assurance = AssurancePolicy.none
  package var risk = RiskPolicy.default
  /// Where addresses are; nil where no database is named.
  package var countries: MaxMindFile?
  package var networks: MaxMindFile?
  /// Of the key that is to serve next.
  package var nextPin: PublicKeyPin?
  package var android = AndroidFiles()

  /// What a problem is about, as `check` labels it.
  package enum Part: String {
    case policy, risk, geo, pins, android
  }

  /// All that is wrong with them is told before it gives up.
  package static func read(
    _ files: GateFiles, tell: (Part, String) -> Void = { complain($1) }
  ) throws -> DeviceFiles {
    var read = DeviceFiles()
    var isRead = true
    func unlessTold(_ body: () throws -> Void) {
      do { try body() } catch { isRead = false }
    }
    if let path = files.approvalPolicyPath {
      unlessTold {
        read.approvals = try policy("APPROVAL_POLICY", path, tell) { (bytes) throws(PolicyFailure) in
          try ApprovalPolicy(parsing: bytes)
        }
      }
    }
    if let path = files.assurancePolicyPath {
      unlessTold {
        read.assurance = try policy("ASSURANCE_POLICY", path, tell) { (bytes) throws(PolicyFailure) in
          try AssurancePolicy(parsing: bytes)
        }
      }
    }
    if let path = files.riskPolicyPath {
      unlessTold {
        read.risk = try policy("RISK_POLICY", path, tell, as: .risk) { (bytes) throws(PolicyFailure) in
          try RiskPolicy(parsing: bytes)
        }
      }
    }
    if let path = files.countriesPath {
      unlessTold { read.countries = try database(files.countriesSetting, path, tell) }
    }
    if let path = files.networksPath {
      unlessTold { read.networks = try database(files.networksSetting, path, tell) }
    }
    if let path = files.nextKeyPath { unlessTold { read.nextPin = try pin(path, tell) } }
    unlessTold {
      read.android = try AndroidFiles.read(
        files.android, isProduction: files.isProduction, tell: { tell(.android, $0) })
    }
    guard isRead else { throw ExitStatus.configuration }
    return read
  }

  private static func policy<Policy>(
    _ setting: String, _ path: String, _ tell: (Part, String) -> Void, as part: Part = .policy,
    _ parse: (Span<UInt8>) throws(PolicyFailure) -> Policy
  ) throws -> Policy {
    try PolicyFile.read(
      path, named: "\(setting)=\(PrintableText.field(path))", tell: { tell(part, $0) }, parse)
  }

  private static func database(
    _ setting: String, _ path: String, _ tell: (Part, String) -> Void
  ) throws -> MaxMindFile {
    do throws(GeoDatabaseError) {
      return try MaxMindFile.open(path)
    } catch {
      let remedy =
        error.isUnreadable
        ? "correct the path or the file's owner and mode" : "name a whole database in MaxMind's format"
      tell(.geo, "\(setting)=\(PrintableText.field(path)) \(error); \(remedy)")
      throw ExitStatus.configuration
    }
  }

  private static func pin(_ path: String, _ tell: (Part, String) -> Void) throws -> PublicKeyPin {
    do {
      return try PublicKeyPin.ofKey(try PrivateKeyText.read(path, limit: 1 << 20))
    } catch {
      tell(
        .pins,
        "TLS_NEXT_KEY_PATH=\(PrintableText.field(path)): \(error); name the PEM file of a key, without a pass phrase"
      )
      throw ExitStatus.configuration
    }
  }
}

/// Users of the host who have a say in approvals; looked up once, at the start.
package struct ApprovalUsers: Equatable {
  package var operators: Set<UInt32> = []
  /// Of those whose accounts have one.
  package var names: [UInt32: String] = [:]
  /// Whose members may open the socket; nil for the gate's own.
  package var group: UInt32?

  package static func find(
    _ socket: GateConfiguration.ApprovalsSocket?, tell: Teller = { complain($0) }
  ) throws -> ApprovalUsers {
    guard let socket, let path = socket.path else { return ApprovalUsers() }
    var found = ApprovalUsers()
    let operators = OperatorNames.find("APPROVAL_OPERATORS", socket.operators, tell: tell)
    var isFound = operators != nil
    for (user, name) in operators ?? [] {
      found.operators.insert(user)
      found.names[user] = name
    }
    if let name = socket.group {
      found.group = HostUsers.group(name)
      if found.group == nil {
        tell(
          "\(socket.groupSetting): there is no group \(PrintableText.field(name)): correct the name, or create the group"
        )
        isFound = false
      }
    }
    // Whatever knows users is loaded now: the sandbox lets no more code in, and those who ask are looked up by their numbers.
    _ = AccountName.of(user: .max - 1)
    if try OperatorNames.areHidden("APPROVALS_SOCKET", tell: tell) {
      tell(
        "APPROVALS_SOCKET=\(PrintableText.field(path)): this process runs in a user namespace, where the kernel does "
          + "not tell who asks: set PrivateUsers=no in a drop-in of the service (docs/running.md, \"Approvals "
          + "socket\"), or remove APPROVALS_SOCKET")
      isFound = false
    }
    guard isFound else { throw ExitStatus.configuration }
    return found
  }
}

extension RegistrySettings {
  /// What is set, without what lies in files; nil where there are no devices.
  package init?(_ devices: GateConfiguration.Devices) {
    guard devices.areOn, let url = devices.publicURL else { return nil }
    self.init(publicURL: url.text)
    retention = devices.retention
    evidenceActivates = devices.approval == .evidence
    minimumLevel = devices.minimumLevel.level
    devicesPerSubject = devices.perSubject
    doorLevel = devices.playLevel?.level
    tokenAudiences = devices.tokenAudiences
    pinsAreForced = devices.pinsAreForced
    presenceMaximumAge = devices.presenceMaximumAge
    codeLife = devices.codeLife
    serviceBytesPerDay = devices.serviceBytesPerDay
    codeAttestationMaximumAge = devices.codeAttestationMaximumAge
    presenceStrengths = SignalStrengths(devices.presenceStrengths.map { ($0.site, $0.minimum) })
  }

  /// Nil where there are no devices.
  /// - Parameter pin: of the key in service.
  package init?(
    _ configuration: GateConfiguration, _ files: DeviceFiles, _ users: ApprovalUsers, pin: PublicKeyPin
  ) {
    self.init(configuration.devices)
    approvalOperators = users.operators
    approvalOperatorNames = users.names
    approvals = files.approvals
    assurance = files.assurance
    risk = files.risk
    if files.countries != nil || files.networks != nil {
      places = GeoDatabase(countries: files.countries, networks: files.networks)
    }
    pins = [pin] + (files.nextPin.map { $0 == pin ? [] : [$0] } ?? [])
  }
}

extension GateConfiguration.DeviceLevel {
  package var level: Level {
    switch self {
    case .bare: .bare
    case .appAttested: .appAttested
    case .hardwareAttested: .hardwareAttested
    }
  }
}
