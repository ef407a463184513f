/// What is set about devices, services and approvals (docs/settings.md, "Devices"): nothing of it counts without
/// `DEVICES_PATH`.
internal import Addresses

extension GateConfiguration {
  package struct Devices: Sendable, Equatable {
    /// The file of the registry; nil when there are no devices at all.
    package internal(set) var path: String?
    /// Not nil where there are devices.
    package internal(set) var publicURL: PublicURL?
    /// Of what has ended; of the audit nothing is thrown away by time.
    package internal(set) var retention = Duration.zero
    package internal(set) var approval = DeviceApproval.operator
    /// Of a key, so that a device may become or stay active with it.
    package internal(set) var minimumLevel = DeviceLevel.bare
    package internal(set) var perSubject = 0
    /// From which level on devices come in to play; nil when none does.
    package internal(set) var playLevel: DeviceLevel?
    /// Of device tokens, beside the gate itself.
    package internal(set) var tokenAudiences: [String] = []
    package internal(set) var approvalPolicyPath: String?
    package internal(set) var assurancePolicyPath: String?
    package internal(set) var riskPolicyPath: String?
    /// Databases of where addresses are, and whose.
    package internal(set) var countriesPath: String?
    package internal(set) var networksPath: String?
    package internal(set) var approvalsSocket = ApprovalsSocket()
    /// The key that `TLS_KEY_PATH` will name next, to announce its pin; also of use without devices.
    package internal(set) var nextKeyPath: String?
    /// Whether a key of no published pin may serve all the same.
    package internal(set) var pinsAreForced = false
    package internal(set) var presenceMaximumAge = Duration.zero
    /// What a service may leave in the store within a day.
    package internal(set) var serviceBytesPerDay = 0
    /// Of one-time codes.
    package internal(set) var codeLife = Duration.zero
    package internal(set) var codeAttestationMaximumAge = Duration.zero
    /// Of the signal of a phone that is near.
    package internal(set) var presenceStrengths: [SiteStrength] = []
    package internal(set) var android = Android()

    package var areOn: Bool { path != nil }
  }

  /// Where programs of the host ask for approvals and operators confirm them.
  package struct ApprovalsSocket: Sendable, Equatable {
    /// Nil when there is none.
    package internal(set) var path: String?
    /// Name or number; nil for the group of the gate's own user.
    package internal(set) var group: String?
    /// Which setting has named it.
    package internal(set) var groupSetting = "SOCKET_GROUP"
    /// Names or numbers of users who may confirm.
    package internal(set) var operators: [String] = []
  }

  /// How strong a phone's radio signal has to be at least at the desktops of a site.
  package struct SiteStrength: Sendable, Hashable {
    /// As services were added with it; `*` for those that are not named.
    package let site: String
    /// In dBm.
    package let minimum: Int64
  }

  /// Whose word makes a pending device active.
  package enum DeviceApproval: String, CaseIterable, Sendable {
    case `operator`
    case evidence
  }

  /// What vouches for a device's keys, the weakest first; the raw values are those of the protocol.
  package enum DeviceLevel: String, CaseIterable, Sendable {
    case bare
    case appAttested = "app_attested"
    case hardwareAttested = "hardware_attested"
  }

  /// The oldest that clients may speak.
  package enum TLSVersion: String, CaseIterable, Sendable {
    case tls12 = "1.2"
    case tls13 = "1.3"
  }
}

/// Under which name clients reach the gate: `https://host[:port]`, compared by others byte for byte as it stands.
package struct PublicURL: Sendable, Equatable {
  package let text: String
  /// In lower case, IPv6 without brackets.
  package let host: String
  package let port: UInt16

  package enum ParseError: Error, Equatable, Sendable {
    case notHTTPS
    /// There is a path, a query, a fragment or a user.
    case notAnOrigin
    case upperCase
    case malformedAuthority
    /// `:443` says what is so without it, and two spellings of one issuer would be two issuers.
    case defaultPort
  }

  package init(parsing text: String) throws(ParseError) {
    guard text.hasPrefix("https://") else { throw .notHTTPS }
    let authority = text.dropFirst(8)
    guard !authority.contains(where: { "/?#@".contains($0) }) else { throw .notAnOrigin }
    guard !authority.utf8.contains(where: { (0x41...0x5A).contains($0) }) else { throw .upperCase }
    let end = authority.last == "]" ? nil : authority.lastIndex(of: ":")
    if let end, authority[end...] == ":443" { throw .defaultPort }
    let target = end == nil ? "\(authority):443" : String(authority)
    do throws(BackendTarget.ParseError) {
      guard case .tcp(let host, let port) = try BackendTarget(parsing: target) else { throw .malformed }
      (self.host, self.port) = (host, port)
    } catch {
      throw .malformedAuthority
    }
    self.text = text
  }
}
