/// The gate's settings as typed values (docs/settings.md): what the rest of the program sees of environment and file.
package import Addresses
package import Charsets
package import Identity

/// Only `ConfigurationLoader` makes one, after every value and every combination has been checked.
package struct GateConfiguration: Sendable, Equatable {
  /// `NODE_ENV` or `PORTCULLIS_ENV` says so.
  package internal(set) var isProduction = false
  /// Neither variable is set: not production, but perhaps not on purpose.
  package internal(set) var isEnvironmentUnset = true

  package internal(set) var listen: [Endpoint] = []
  package internal(set) var backend = Backend()
  /// Nil outside production only: then a certificate for localhost is made in memory.
  package internal(set) var tls: ServerCertificateFiles?
  package internal(set) var minimumTLSVersion = TLSVersion.tls12
  /// False lets everybody in whose origin is permitted.
  package internal(set) var requiresAppAuth = true
  package internal(set) var attest = Attest()
  package internal(set) var mtls = ClientCertificates()
  package internal(set) var origins = AllowedOrigins.unrestricted
  package internal(set) var proxies = Proxies()
  package internal(set) var store = Store()
  package internal(set) var devices = Devices()
  package internal(set) var admin = Admin()
  package internal(set) var controlSocketPath = ""
  /// Whom a gate that was started as root becomes; nil when nothing is stated.
  package internal(set) var runAs: RunAs?
  /// Whether the serving process takes system calls and writing away from itself.
  package internal(set) var isSandboxed = true
  package internal(set) var log = Log()
  /// Event loops, each a thread.
  package internal(set) var workers = 1
  /// Of messages that carry the game's bytes.
  package internal(set) var messageType = MessageType.binary
  package internal(set) var compression = Compression.on
  package internal(set) var telnet = Telnet()
  package internal(set) var sessions = Sessions()
  package internal(set) var limits = Limits()

  /// Where the values are from: what commands say of a path depends on it.
  package internal(set) var origin = Origin()

  /// Settings that only together, or with the machine's measures, give one of the values above.
  var stated = StatedSettings()

  /// Blank; every row of `SettingTable` with a default fills its value in.
  init() {}
}

extension GateConfiguration {
  package struct Origin: Sendable, Equatable {
    /// The settings file that was read; nil for the environment alone.
    package internal(set) var file: String?
    /// Settings that file or environment state; all others have their defaults.
    package internal(set) var statedNames: Set<String> = []
  }

  package struct Backend: Sendable, Equatable {
    package internal(set) var target = BackendTarget.echo
    /// Sent first on each connection to the game.
    package internal(set) var proxyProtocol = ProxyProtocol.off
  }

  package enum ProxyProtocol: String, CaseIterable, Sendable {
    case off
    case v1
    case v2
  }

  package struct ServerCertificateFiles: Sendable, Equatable {
    package let certificatePath: String
    package let keyPath: String
  }

  package struct Attest: Sendable, Equatable {
    /// Empty only with `REQUIRE_APP_AUTH=false`: then there are no `/attest/` endpoints.
    package internal(set) var appIDs: [AppID] = []
    package internal(set) var environments: Set<AttestEnvironment> = []
    /// Nil for Apple's root, which is compiled in.
    package internal(set) var rootPath: String?
    /// Nil when not checked.
    package internal(set) var allowedCategories: Set<UInt32>?
    /// Nil when not checked.
    package internal(set) var allowedBundleVersions: Set<String>?
    package internal(set) var requiresLaunchInfo = false
    /// A directory, or nil when receipts are not kept.
    package internal(set) var receiptsPath: String?
  }

  package struct ClientCertificates: Sendable, Equatable {
    /// Whether a verified client certificate admits. Always false in production, whatever was stated.
    package internal(set) var fallback = false
    /// Not nil when `fallback` is true.
    package internal(set) var clientCAPath: String?
  }

  package struct Proxies: Sendable, Equatable {
    /// Peers whose word on the client's address counts.
    package internal(set) var trusted: [CIDRBlock] = []
    /// A PROXY header opens every connection, and `X-Forwarded-For` is ignored.
    package internal(set) var requiresProxyProtocol = false

    package func isTrusted(_ address: IPAddress) -> Bool { trusted.contains { $0.contains(address) } }
  }

  package struct Store: Sendable, Equatable {
    package internal(set) var path = ""
    package internal(set) var durability = Durability.strict
    package internal(set) var maximumKeys = 0
    /// The secret that `PORTCULLIS_DEVICE` is made with; beside the store where nothing is stated.
    package internal(set) var pseudonymKeyPath = ""
  }

  package enum Durability: String, CaseIterable, Sendable {
    case strict
    case relaxed
  }

  /// Names or numbers, looked up when the gate starts.
  package struct RunAs: Sendable, Equatable {
    package let user: String
    /// Nil for the group that the user's account has.
    package let group: String?
  }

  package struct Log: Sendable, Equatable {
    package internal(set) var level = LogLevel.info
    package internal(set) var format = LogFormat.text
  }

  /// The raw values are those of swift-log's levels.
  package enum LogLevel: String, CaseIterable, Sendable {
    case trace, debug, info, notice, warning, error, critical
  }

  package enum LogFormat: String, CaseIterable, Sendable {
    case text
    case json
  }

  package enum MessageType: String, CaseIterable, Sendable {
    case binary
    case text
  }

  /// Of messages to and from apps.
  package enum Compression: Sendable {
    case on
    case off
  }

  /// How the game is spoken to where the gate speaks telnet for the app.
  package struct Telnet: Sendable, Equatable {
    /// Of the game's text, until the two agree on another one.
    package internal(set) var charset = Charset.utf8
    /// Whether a game that offers to suppress go-ahead may.
    package internal(set) var agreesToSuppressGoAhead = false
    package internal(set) var compression = GameCompression.off
    /// After so long a silence towards the game it is sent a NOP; nil for never.
    package internal(set) var keepAlive: Duration?
  }

  package enum GameCompression: String, CaseIterable, Sendable {
    case off
    case mccp2
  }

  package enum HotRestart: String, CaseIterable, Sendable {
    case auto
    case off
  }

  /// What apps may choose, and what becomes of a session whose connection is gone.
  package struct Sessions: Sendable, Equatable {
    /// Names of `allSubprotocols`; never empty.
    package internal(set) var subprotocols: [String] = []
    /// Package names of GMCP whose last value is told again; `.*` at an end stands for all below a name.
    package internal(set) var packagesToldAgain: [String] = []
    /// How long a session waits for its app; zero for not at all.
    package internal(set) var resumableFor = Duration.zero
    /// Whether sessions outlive the process where there is a store for descriptors.
    package internal(set) var hotRestart = HotRestart.auto
    /// How many of them do.
    package internal(set) var mostKept = 0

    /// `none` is an upgrade without a subprotocol.
    package static let allSubprotocols = [
      "none", "binary", "telnet.mudstandards.org", "terminal.mudstandards.org", "gmcp.mudstandards.org",
      "json.mudstandards.org", resumableSubprotocol,
    ]
    /// The one whose sessions outlive their connection.
    package static let resumableSubprotocol = "portcullis.v1"

    /// Whether a session can be without a connection at all.
    package var canBeDetached: Bool {
      resumableFor > .zero && subprotocols.contains(Self.resumableSubprotocol)
    }

    /// Whether a session can outlive the process where there is a store for descriptors.
    package var canBeKept: Bool { canBeDetached && hotRestart == .auto && mostKept > 0 }

    /// Whether there are sessions in which the gate speaks telnet, and so decodes the game's text.
    package var haveTelnet: Bool {
      !subprotocols.allSatisfy(["none", "binary", "telnet.mudstandards.org"].contains)
    }
  }
}

/// One setting a field, nil when not stated, until `CombinationRules` has made values of them.
struct StatedSettings: Sendable, Equatable {
  var nodeEnvironment: String?
  var gateEnvironment: String?
  var teamID: String?
  var bundleID: String?
  var appIDs: [AppID]?
  var certificatePath: String?
  var keyPath: String?
  var allowsFallback = false
  var workers: Int?
  var maximumConnections: Int?
  var maximumDetached = 0
  var pseudonymKeyPath: String?
  var adminTokensPath: String?
  var httpTimeout = Duration.zero
  var httpHeadTimeout: Duration?
  var httpBodyTimeout: Duration?
  var httpIdleTimeout: Duration?
  var socketGroup: String?
  var approvalsGroup: String?
  var adminSocketGroup: String?
  var geoPath: String?
  var countriesPath: String?
  var networksPath: String?
  /// Not a setting, but what `MAX_CONNECTIONS` and `MAX_DETACHED` are cut to.
  var descriptorLimit = 0
}
