/// What is set about the admin listener and its probes (docs/settings.md, "Admin listener").
package import Addresses

extension GateConfiguration {
  package struct Admin: Sendable, Equatable {
    /// Nil when there is no listener at all.
    package internal(set) var listen: AdminAddress?
    /// Of the UNIX socket, by name or number; nil for the gate's own user alone.
    package internal(set) var socketGroup: String?
    /// Which setting has named it.
    package internal(set) var groupSetting = "SOCKET_GROUP"
    /// Whether `/metrics` asks for a token on loopback and the UNIX socket as well.
    package internal(set) var metricsNeedToken = false
    /// Users of the host, by name or number, who may have a link to sign in.
    package internal(set) var operators: [String] = []
    /// Names in `Host` beside those that are known anyway; in lower case, without a port.
    package internal(set) var hosts: [String] = []
    /// What has to be there beside the gate itself, so that it calls itself ready.
    package internal(set) var readyNeeds = ReadyNeeds.nothing
    /// Beside the key store where nothing is stated.
    package internal(set) var tokensPath = ""

    package var isOn: Bool { listen != nil }
  }

  /// Where the admin listener is.
  package enum AdminAddress: Sendable, Equatable {
    case tcp(Endpoint)
    case unix(path: String)

    /// Whether others than this host get at it: then it speaks TLS, and all but the probes asks who is there.
    package var isExposed: Bool {
      switch self {
      case .tcp(let endpoint): !endpoint.address.isLoopback
      case .unix: false
      }
    }

    /// Nil of an internet address.
    package var path: String? {
      switch self {
      case .tcp: nil
      case .unix(let path): path
      }
    }
  }

  package enum ReadyNeeds: String, CaseIterable, Sendable {
    case nothing
    case game
  }
}

extension GateConfiguration.AdminAddress: CustomStringConvertible {
  /// As `ADMIN_LISTEN` is written.
  package var description: String {
    switch self {
    case .tcp(let endpoint): endpoint.description
    case .unix(let path): "unix:\(path)"
    }
  }
}
