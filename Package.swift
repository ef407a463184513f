// swift-tools-version: 6.3
import PackageDescription

/// A module uses those of its own layer and of the layers before it, never one after: ManifestTests reads these rows.
enum Layer: String {
  case c = "C"
  case base = "Base"
  case wire = "Wire"
  case trust = "Trust"
  case host = "Host"
  case gate = "Gate"
  case operate = "Operate"
  case phone = "Phone"
  case program = "Program"
}

struct Module {
  let name: String
  let layer: Layer
  let dependencies: [String]
  let libraries: [String]
  let isProgram: Bool
  let settings: [SwiftSetting]

  init(
    _ name: String, in layer: Layer, _ dependencies: [String] = [], linked libraries: [String] = [],
    isProgram: Bool = false, isPlain: Bool = false
  ) {
    self.name = name
    self.layer = layer
    self.dependencies = dependencies
    self.libraries = libraries
    self.isProgram = isProgram
    settings = layer == .c ? [] : isPlain ? plain : strict
  }

  var path: String { "Sources/\(layer.rawValue)/\(name)" }

  var target: Target {
    let dependencies = dependencies.map(dependency)
    if isProgram {
      return .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
    }
    return .target(
      name: name, dependencies: dependencies, path: path,
      exclude: manifest.isEmpty && name == "PortcullisClient" ? ["PrivacyInfo.xcprivacy"] : [],
      resources: name == "PortcullisClient" ? manifest : [], swiftSettings: settings,
      linkerSettings: libraries.map { .linkedLibrary($0) })
  }
}

/// What Xcode puts into an app. Elsewhere a resource would bring all of Foundation along.
#if os(macOS)
  let manifest: [Resource] = [.process("PrivacyInfo.xcprivacy")]
#else
  let manifest: [Resource] = []
#endif

/// For what other packages depend on. Warnings as errors, and features that are experiments, break their builds in Xcode.
let plain: [SwiftSetting] = [.swiftLanguageMode(.v6)]
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
]

func dependency(_ name: String) -> Target.Dependency {
  switch name {
  case "ArgumentParser": .product(name: name, package: "swift-argument-parser")
  case "Logging": .product(name: name, package: "swift-log")
  default: .byName(name: name)
  }
}

let modules = [
  // Headers, inline shims for macros, and the one BIO. Everything above is Swift.
  Module("CLinux", in: .c),
  Module("COpenSSL", in: .c, linked: ["ssl", "crypto"]),
  Module("CCBOR", in: .c, linked: ["cbor"]),
  Module("CZlib", in: .c, linked: ["z"]),
  Module("CSeccomp", in: .c, linked: ["seccomp"]),
  Module("CSQLite", in: .c, linked: ["sqlite3"]),
  Module("CQRencode", in: .c, linked: ["qrencode"]),
  Module("CMaxMindDB", in: .c, linked: ["maxminddb"]),

  // What knows nothing of the gate.
  Module("Bytes", in: .base),
  Module("JSON", in: .base, ["Bytes"]),
  Module("Addresses", in: .base),
  Module("Charsets", in: .base, ["Bytes"]),
  Module("Time", in: .base, ["CLinux"]),
  Module("System", in: .base, ["CLinux", "Time"]),
  Module("Crypto", in: .base, ["Bytes", "COpenSSL", "System", "Time"]),
  Module("Logs", in: .base, ["Bytes", "Logging", "System", "Time"]),
  Module("Sockets", in: .base, ["Addresses", "CLinux", "System", "Time"]),
  Module("Identity", in: .base, ["Bytes", "Crypto"]),
  Module("SQL", in: .base),
  Module("SQLite", in: .base, ["CSQLite", "SQL", "System"]),
  Module("QRCode", in: .base, ["CQRencode"]),
  Module("GeoDatabase", in: .base, ["Addresses", "CMaxMindDB", "System"]),

  // Bytes of protocols in, values out.
  // For whoever writes a client as well, and so a product.
  Module("PortcullisProtocol", in: .wire, isPlain: true),
  Module("HTTPWire", in: .wire, ["Addresses", "PortcullisProtocol"]),
  Module("WebSocketWire", in: .wire, ["Bytes", "Crypto", "HTTPWire", "PortcullisProtocol"]),
  Module("ProxyProtocol", in: .wire, ["Addresses", "Bytes", "Identity"]),
  Module("CBOR", in: .wire, ["Bytes", "CCBOR"]),
  Module("Deflate", in: .wire, ["Bytes", "CZlib", "WebSocketWire"]),
  Module("DeviceWire", in: .wire, ["Bytes", "Crypto", "JSON", "PortcullisProtocol", "Time"]),
  Module("TelnetWire", in: .wire, ["Bytes", "Deflate", "JSON", "Time"]),
  Module(
    "SessionWire", in: .wire,
    ["Bytes", "JSON", "PortcullisProtocol", "TelnetWire", "Time", "WebSocketWire"]),

  // Who may come in, and who has.
  Module("X509", in: .trust, ["Bytes", "Crypto", "Time"]),
  Module(
    "AppAttest", in: .trust,
    ["Bytes", "CBOR", "Crypto", "Identity", "JSON", "PortcullisProtocol", "Time", "X509"]),
  Module("AndroidKey", in: .trust, ["Bytes", "Crypto", "DeviceWire", "JSON", "Time", "X509"]),
  Module("ApprovalPolicy", in: .trust, ["Bytes", "DeviceWire", "JSON"]),
  Module("KeyStore", in: .trust, ["Bytes", "CLinux", "Identity", "JSON", "System", "Time"]),
  Module(
    "Registry", in: .trust,
    [
      "Addresses", "ApprovalPolicy", "Bytes", "Crypto", "DeviceTokens", "DeviceWire", "JSON",
      "PortcullisProtocol", "Risk", "SQL", "SQLite", "System", "Time",
    ]),
  Module("PlayIntegrity", in: .trust, ["Bytes", "Crypto", "DeviceWire", "JSON", "Time"]),
  Module("DeviceTokens", in: .trust, ["Bytes", "Crypto", "DeviceWire", "JSON", "Time"]),
  Module("Risk", in: .trust, ["Addresses", "ApprovalPolicy", "DeviceWire", "JSON", "Time"]),

  // What the host gives, and what an operator sets.
  Module(
    "Configuration", in: .host,
    ["Addresses", "Bytes", "Charsets", "CLinux", "DeviceWire", "Identity", "System", "Time"]),
  Module("Confinement", in: .host, ["Bytes", "CLinux", "CSeccomp", "System"]),
  Module("Supervision", in: .host, ["CLinux", "System", "Time"]),
  Module("Metrics", in: .host, ["Bytes", "PortcullisProtocol", "Time"]),

  // Connections and sessions.
  Module("TLS", in: .gate, ["Bytes", "COpenSSL", "Crypto", "Sockets", "System", "Time"]),
  Module("Keeping", in: .gate, ["Addresses", "Bytes", "SessionWire", "System", "TelnetWire", "Time"]),
  Module("Scheduling", in: .gate, ["HTTPWire", "System", "Time"]),
  Module(
    "Admission", in: .gate,
    [
      "Addresses", "AppAttest", "Bytes", "Configuration", "Crypto", "DeviceWire", "HTTPWire", "Identity",
      "KeyStore", "PortcullisProtocol", "Registry", "Scheduling", "SessionWire", "System", "TelnetWire",
      "Time", "TLS", "WebSocketWire",
    ]),
  Module(
    "Telemetry", in: .gate,
    [
      "Addresses", "Admission", "Bytes", "DeviceWire", "HTTPWire", "KeyStore", "Logging", "Logs", "Metrics",
      "PortcullisProtocol", "ProxyProtocol", "Registry", "Scheduling", "Sockets", "System", "TelnetWire",
      "Time", "TLS", "WebSocketWire",
    ]),
  Module(
    "Conversation", in: .gate,
    [
      "Addresses", "Admission", "Bytes", "Charsets", "Configuration", "Identity", "PortcullisProtocol",
      "SessionWire", "System", "TelnetWire", "Time", "WebSocketWire",
    ]),
  Module(
    "Upstream", in: .gate,
    ["Addresses", "Bytes", "Keeping", "Scheduling", "Sockets", "System", "Telemetry", "Time"]),
  Module(
    "Requests", in: .gate,
    [
      "Addresses", "Admission", "AndroidKey", "Bytes", "Configuration", "Crypto", "DeviceWire", "HTTPWire",
      "JSON", "KeyStore", "PlayIntegrity", "PortcullisProtocol", "Registry", "System", "Telemetry", "Time",
    ]),
  Module(
    "Gateway", in: .gate,
    [
      "Addresses", "Admission", "AndroidKey", "AppAttest", "Bytes", "Charsets", "Configuration",
      "Conversation", "Crypto", "Deflate", "DeviceWire", "HTTPWire", "Identity", "Keeping",
      "KeyStore", "Logging", "Logs", "Metrics", "PlayIntegrity", "PortcullisProtocol", "ProxyProtocol",
      "Registry", "Requests", "Scheduling", "SessionWire", "Sockets", "System", "Telemetry", "TelnetWire",
      "Time", "TLS", "Upstream", "WebSocketWire",
    ]),

  // What the operator sees of it, and asks of it.
  Module("Prompt", in: .operate, ["Bytes", "Configuration", "JSON", "System", "Time"]),
  Module(
    "Assembly", in: .operate,
    [
      "Admin", "Admission", "AndroidKey", "AppAttest", "ApprovalPolicy", "Bytes", "Charsets", "Configuration",
      "Confinement", "Control", "Crypto", "DeviceWire", "Gateway", "GeoDatabase", "Identity", "JSON",
      "KeyStore", "Logging", "Logs", "PlayIntegrity", "PortcullisProtocol", "Prompt", "Registry", "Requests",
      "Risk", "Scheduling", "Sockets", "System", "Time", "TLS",
    ]),
  Module(
    "Inspection", in: .operate,
    [
      "Addresses", "Admin", "AndroidKey", "AppAttest", "ApprovalPolicy", "Assembly", "Bytes", "Charsets",
      "Configuration", "Confinement", "Control", "Crypto", "Gateway", "GeoDatabase", "Identity", "KeyStore",
      "Prompt", "Requests", "Risk", "Sockets", "System", "Time", "TLS",
    ]),
  Module(
    "Control", in: .operate,
    [
      "Addresses", "Admin", "Admission", "Bytes", "Configuration", "Confinement", "Crypto", "Gateway",
      "HTTPWire", "Identity", "JSON", "KeyStore", "Logging", "PortcullisProtocol", "Prompt", "Registry",
      "Sockets", "System", "Telemetry", "Time",
    ]),
  Module(
    "Admin", in: .operate,
    ["Addresses", "Bytes", "Crypto", "HTTPWire", "JSON", "Metrics", "Sockets", "System", "Time", "TLS"]),
  Module(
    "Console", in: .operate,
    [
      "Addresses", "Admin", "Admission", "ApprovalPolicy", "Assembly", "Bytes", "Configuration",
      "Confinement", "Control", "Crypto", "DeviceWire", "Gateway", "Identity", "Inspection", "JSON",
      "KeyStore", "Logging", "Logs", "Metrics", "PortcullisProtocol", "Prompt", "QRCode", "Registry",
      "Scheduling", "Sockets", "System", "Telemetry", "Time", "TLS",
    ]),

  Module(
    "Serving", in: .operate,
    [
      "Addresses", "Admin", "AppAttest", "Assembly", "Charsets", "Configuration", "Confinement", "Console",
      "Control", "Crypto", "Gateway", "KeyStore", "Logging", "Logs", "Prompt", "Registry", "Requests",
      "Scheduling", "Sockets", "Supervision", "System", "Time", "TLS",
    ]),

  // A player's session on the app's side, and the simulated device.
  Module("PortcullisClient", in: .phone, ["PortcullisProtocol"], isPlain: true),
  Module("PortcullisTesting", in: .phone, ["PortcullisClient", "PortcullisProtocol"], isPlain: true),
  Module("PortcullisDevice", in: .phone, ["PortcullisClient", "PortcullisProtocol"], isPlain: true),
  Module(
    "Dialing", in: .phone,
    [
      "Bytes", "CLinux", "COpenSSL", "Crypto", "Deflate", "PortcullisProtocol", "System", "Time",
      "WebSocketWire",
    ]),
  Module(
    "Device", in: .phone,
    [
      "Addresses", "Bytes", "CBOR", "CLinux", "Crypto", "DeviceWire", "Dialing", "Identity", "JSON",
      "PortcullisClient", "PortcullisDevice", "PortcullisProtocol", "System", "Time",
    ]),

  // What is run.
  Module(
    "Vectors", in: .program,
    [
      "Addresses", "AndroidKey", "AppAttest", "Bytes", "Crypto", "DeviceWire", "Identity", "JSON",
      "PlayIntegrity", "Risk", "Time",
    ]),
  Module(
    "Demo", in: .program,
    [
      "Addresses", "Admission", "AppAttest", "ApprovalPolicy", "Assembly", "Bytes", "Configuration", "Crypto",
      "Device", "DeviceWire", "Dialing", "Gateway", "Identity", "JSON", "KeyStore", "Logging", "Logs",
      "PortcullisClient", "PortcullisDevice", "PortcullisProtocol", "Registry", "Sockets", "System", "Time",
      "TLS",
    ]),
  Module(
    "Bench", in: .program,
    ["Bytes", "Device", "Dialing", "Identity", "JSON", "PortcullisProtocol", "System", "Time"]),
  // How both programs read their command lines, and what both have of commands.
  Module(
    "Commands", in: .program,
    ["AndroidKey", "ArgumentParser", "Bytes", "CLinux", "Configuration", "Dialing", "Prompt", "System"]),
  Module(
    "portcullis", in: .program,
    [
      "Addresses", "Admin", "Admission", "AppAttest", "ApprovalPolicy", "ArgumentParser", "Assembly", "Bytes",
      "Charsets", "Commands", "Configuration", "Confinement", "Control", "Crypto", "DeviceWire", "Dialing",
      "Gateway", "Identity", "Inspection", "JSON", "KeyStore", "Logging", "Logs", "PortcullisProtocol",
      "Prompt", "QRCode", "Registry", "Risk", "Scheduling", "Serving", "Sockets", "Supervision", "System",
      "TelnetWire", "Time", "TLS", "Vectors",
    ], isProgram: true),
  // What a gate is tried out with, in a program and a package of its own.
  Module(
    "portcullis-dev", in: .program,
    [
      "Admin", "AndroidKey", "AppAttest", "ArgumentParser", "Assembly", "Bench", "Bytes", "Commands",
      "Configuration", "Console", "Control", "Crypto", "Demo", "Device", "DeviceWire", "Dialing", "Gateway",
      "Identity", "JSON", "Logs", "PlayIntegrity", "PortcullisClient", "PortcullisDevice",
      "PortcullisProtocol", "Prompt", "Registry", "System", "Time", "Vectors",
    ], isProgram: true),
  // Not installed: what `make bench` measures in process.
  Module(
    "portcullis-bench", in: .program,
    [
      "Addresses", "AndroidKey", "AppAttest", "ApprovalPolicy", "Assembly", "Bytes", "CLinux",
      "Configuration", "Crypto", "Device", "DeviceTokens", "DeviceWire", "Gateway", "Identity", "JSON",
      "Keeping", "KeyStore", "Logs", "PlayIntegrity", "PortcullisDevice", "PortcullisProtocol",
      "Registry", "SessionWire", "SQLite", "System", "Telemetry", "TelnetWire", "Time", "TLS",
    ], isProgram: true),
]

/// A module's tests lie in the folder of its layer; those of what is no module, beside the layers.
func tests(_ name: String, _ dependencies: [String] = []) -> Target {
  let layer = modules.first { $0.name == name }.map { "\($0.layer.rawValue)/" }
  return .testTarget(
    name: "\(name)Tests", dependencies: ([name] + dependencies).map(dependency),
    path: "Tests/Unit/\(layer ?? "")\(name)Tests", swiftSettings: strict)
}

let testTargets = [
  tests("Bytes", ["Kit"]),
  tests(
    "Device",
    [
      "AppAttest", "Bytes", "Crypto", "DeviceWire", "Dialing", "Identity", "JSON", "Kit", "Obligation",
      "PortcullisDevice", "System", "Time",
    ]),
  tests("PortcullisClient", ["Kit", "PortcullisProtocol", "PortcullisTesting"]),
  tests("Bench", ["Dialing", "Identity", "JSON", "Time"]),
  tests("Addresses"),
  tests("Charsets", ["Confinement", "Kit", "Obligation", "System"]),
  tests("PortcullisProtocol"),
  tests("PortcullisDevice", ["PortcullisClient", "PortcullisProtocol", "PortcullisTesting"]),
  tests("HTTPWire", ["Bytes", "Kit", "PortcullisProtocol"]),
  tests("ProxyProtocol", ["Addresses", "Bytes", "Identity"]),
  tests("WebSocketWire", ["Bytes", "Crypto", "HTTPWire", "Kit"]),
  tests(
    "SessionWire", ["Bytes", "JSON", "Kit", "PortcullisProtocol", "TelnetWire", "Time", "WebSocketWire"]),
  tests("CBOR", ["Bytes"]),
  tests("DeviceWire", ["Bytes", "Crypto", "JSON", "Time"]),
  tests("Deflate", ["CZlib", "Kit", "WebSocketWire"]),
  tests("TelnetWire", ["CZlib", "Deflate", "JSON", "Kit", "System", "Time"]),
  tests("Crypto", ["Bytes", "System", "Time"]),
  tests("AppAttest", ["Bytes", "CBOR", "Crypto", "Identity", "Kit", "System", "TestPKI", "Time", "X509"]),
  tests("Prompt", ["System", "Time"]),
  tests(
    "Control",
    [
      "Addresses", "Admission", "AppAttest", "Assembly", "Bytes", "Configuration", "Crypto", "Device",
      "Dialing",
      "Gateway", "HTTPWire", "Identity", "JSON", "KeyStore", "Kit", "Logging", "Logs", "PortcullisProtocol",
      "Prompt",
      "Registry", "Sockets", "System", "Telemetry", "TestGate", "Time", "TLS",
    ]),
  tests(
    "Inspection",
    [
      "AppAttest", "ApprovalPolicy", "Assembly", "Bytes", "Configuration", "Confinement", "Crypto",
      "Identity", "Kit", "Prompt", "System", "Time",
    ]),
  tests(
    "Assembly",
    ["ApprovalPolicy", "Bytes", "Configuration", "Identity", "Kit", "Prompt", "System"]),
  tests(
    "Serving",
    ["Assembly", "Configuration", "Gateway", "KeyStore", "Kit", "Logs", "Prompt", "System", "TLS"]),
  tests("Identity", ["Bytes", "Crypto"]),
  tests("QRCode", ["Obligation"]),
  tests("GeoDatabase", ["Addresses", "Kit", "Obligation"]),
  tests("X509", ["Bytes", "System", "TestPKI", "Time"]),
  tests("JSON"),
  tests("AndroidKey", ["Bytes", "Crypto", "Device", "DeviceWire", "JSON", "Time", "X509"]),
  tests("ApprovalPolicy", ["DeviceWire", "Kit"]),
  tests("Time", ["Kit"]),
  tests("System", ["Kit", "Time"]),
  tests("Confinement", ["CLinux", "CSeccomp", "Obligation", "System"]),
  tests("Sockets", ["Addresses", "CLinux", "System"]),
  tests("Supervision", ["System", "Time"]),
  tests("Metrics", ["PortcullisProtocol", "System", "Time"]),
  tests(
    "Console",
    [
      "Admin", "Bytes", "Confinement", "Control", "Crypto", "Identity", "JSON", "KeyStore",
      "PortcullisProtocol", "Prompt", "QRCode", "Registry", "System", "TestGate", "Time",
    ]),
  tests(
    "Admin",
    [
      "Addresses", "Bytes", "HTTPWire", "Kit", "Metrics", "PortcullisProtocol", "Sockets", "System", "Time",
      "TLS", "TLSPeers",
    ]),
  tests("SQLite", ["Confinement", "FaultDisk", "Obligation", "SQL", "System"]),
  tests("TLS", ["Addresses", "Bytes", "COpenSSL", "Crypto", "Sockets", "System", "Time", "TLSPeers"]),
  tests(
    "Keeping",
    [
      "Addresses", "Bytes", "Charsets", "Kit", "SessionWire", "System", "TelnetWire", "Time",
      "WebSocketWire",
    ]),
  tests("Scheduling", ["Kit", "System", "Time"]),
  tests(
    "Admission",
    [
      "Addresses", "Bytes", "Crypto", "DeviceWire", "HTTPWire", "KeyStore", "Kit", "PortcullisProtocol",
      "Registry", "SessionWire", "System", "Time",
    ]),
  tests("Telemetry", ["Addresses", "Metrics", "PortcullisProtocol", "System", "Time"]),
  tests("Conversation", ["Configuration", "Time"]),
  tests("Upstream", ["Addresses", "Kit", "Sockets", "System", "Time"]),
  tests(
    "Requests",
    [
      "Addresses", "Admission", "Bytes", "Configuration", "Crypto", "DeviceWire", "HTTPWire", "Kit",
      "PortcullisProtocol", "Registry", "System", "Time",
    ]),
  tests(
    "Gateway",
    [
      "Addresses", "Admission", "AndroidKey", "AppAttest", "Bytes", "Charsets", "Configuration",
      "Conversation", "Crypto", "Device", "DeviceWire", "HTTPWire", "Identity", "JSON", "Keeping",
      "KeyStore", "Kit", "Logging", "Logs", "Metrics", "PortcullisProtocol", "Registry", "Requests",
      "Scheduling", "SessionWire", "Sockets", "Stores", "System", "Telemetry", "TelnetWire", "Time", "TLS",
      "TLSPeers", "Upstream", "WebSocketWire",
    ]),
  tests("Configuration", ["Addresses", "Charsets", "DeviceWire", "Identity", "Kit"]),
  tests("Logs", ["Bytes", "Kit", "Logging", "System", "Time"]),
  tests("KeyStore", ["Bytes", "Identity", "JSON", "Kit", "Stores", "System", "Time"]),
  tests(
    "Registry",
    [
      "Addresses", "ApprovalPolicy", "Bytes", "Crypto", "DeviceTokens", "DeviceWire", "FaultDisk", "JSON",
      "Kit", "PortcullisProtocol", "Risk", "SQL", "SQLite", "System", "Time",
    ]),
  tests("DeviceTokens", ["Bytes", "Crypto", "DeviceWire", "JSON", "System", "Time"]),
  tests("PlayIntegrity", ["Bytes", "Crypto", "DeviceWire", "System", "Time"]),
  tests("Risk", ["Addresses", "ApprovalPolicy", "DeviceWire", "Kit", "Time"]),
  tests("Vectors", ["AppAttest", "Bytes", "Crypto", "DeviceWire", "JSON", "Kit", "Obligation", "Risk"]),
  .testTarget(
    name: "ManifestTests", dependencies: ["Kit", "Obligation"], path: "Tests/Unit/ManifestTests",
    swiftSettings: strict),

  // Numbers that come again, a clock that stands still, a folder that goes, and where the sources are.
  .target(
    name: "Kit", dependencies: ["Addresses", "HTTPWire", "System", "Time"], path: "Tests/Kit/Kit",
    swiftSettings: strict),

  // Certificates with every part open to be broken, which Crypto would not make.
  .target(
    name: "TestPKI", dependencies: ["Bytes", "COpenSSL"], path: "Tests/Kit/TestPKI", swiftSettings: strict),

  // Which tests may be skipped, and where.
  .target(name: "Obligation", path: "Tests/Kit/Obligation", swiftSettings: strict),

  // A gate that runs, for tests of what handles one.
  .target(
    name: "TestGate",
    dependencies: [
      "AppAttest", "Assembly", "Configuration", "Control", "Crypto", "Gateway", "KeyStore", "Kit", "Logs",
      "Registry", "System", "Time", "TLS", dependency("Logging"),
    ], path: "Tests/Kit/TestGate", swiftSettings: strict),

  // TLS clients and certificates for the tests of two modules.
  .target(
    name: "TLSPeers", dependencies: ["COpenSSL", "Crypto", "Time"], path: "Tests/Kit/TLSPeers",
    swiftSettings: strict),

  // Stores of keys for tests: in memory, over a database that others share, and one that fails at random.
  .target(
    name: "Stores", dependencies: ["Bytes", "Identity", "KeyStore", "Kit", "System", "Time"],
    path: "Tests/Kit/Stores", swiftSettings: strict),

  // A disk in memory for SQLite, which fails and loses power.
  .target(name: "CFaultDisk", dependencies: ["CSQLite"], path: "Tests/Kit/CFaultDisk"),
  .target(
    name: "FaultDisk", dependencies: ["CFaultDisk", "SQL", "SQLite"], path: "Tests/Kit/FaultDisk",
    swiftSettings: strict),

  // What `make adversarial` searches with.
  .executableTarget(
    name: "portcullis-adversary",
    dependencies: ["Bytes", "Charsets", "Deflate", "JSON", "SessionWire", "TelnetWire", "WebSocketWire"],
    path: "Tests/Adversarial/Search", exclude: ["Worst", "flood.py"], swiftSettings: strict),

  // What `make fuzz` drives; its tests replay the seeds. A target of tests, as it reads what modules keep to
  // themselves: a plain release build, also that of whoever depends on this package, would fail over it.
  .testTarget(
    name: "Fuzzing",
    dependencies: [
      "AndroidKey",
      "Addresses", "Admin", "AppAttest", "ApprovalPolicy", "Bytes", "CBOR", "Charsets", "Configuration",
      "Crypto",
      "Deflate", "DeviceTokens", "DeviceWire", "GeoDatabase", "HTTPWire", "Identity", "JSON", "Keeping",
      "KeyStore", "Metrics",
      "PlayIntegrity",
      "PortcullisClient", "PortcullisProtocol", "ProxyProtocol", "Registry", "Risk", "SessionWire", "System",
      "TelnetWire", "Time", "WebSocketWire", "X509",
    ],
    path: "Tests/Adversarial/Fuzzing", exclude: ["Dictionaries", "Seeds"], swiftSettings: strict),
  tests("Fuzzing", ["Kit"]),
]

/// A framework of Apple's that behaves, and what is compiled against them: their sources name Apple's modules, and mean these.
/// Were the modules themselves named so, `canImport` would find them everywhere.
func ofApple(
  _ name: String, _ frameworks: [String], _ dependencies: [String] = [], isOfPackage: Bool = false
) -> Target {
  let aliases = frameworks.flatMap { ["-module-alias", "\($0)=Apple\($0)"] }
  return .target(
    name: name, dependencies: (frameworks.map { "Apple\($0)" } + dependencies).map(dependency),
    path: "Tests/Kit/AppleFakes/\(name)", exclude: name == "AppleClient" ? ["PrivacyInfo.xcprivacy"] : [],
    swiftSettings: (isOfPackage ? [.swiftLanguageMode(.v5), .unsafeFlags(["-suppress-warnings"])] : strict)
      + (aliases.isEmpty ? [] : [.unsafeFlags(aliases)]))
}

let appleTargets = [
  ofApple(
    "AppleFoundation", [], ["CLinux", "COpenSSL", "Deflate", "Dialing", "System", "Time", "WebSocketWire"]),
  ofApple("AppleCryptoKit", [], ["Bytes", "Crypto"]),
  ofApple("AppleDeviceCheck", ["Foundation"], ["Bytes", "Crypto", "Device", "Identity", "Time"]),
  ofApple("AppleNetwork", ["Foundation"]),
  ofApple("AppleLocalAuthentication", ["Foundation"]),
  ofApple("AppleSecurity", ["Foundation"], ["COpenSSL", "Crypto"]),
  // The package's own sources, by a link each. In mode 6 a class that is Sendable may inherit from
  // NSObject alone, which the compiler knows by the name of its module; `scripts/apple-check` compiles
  // them in both modes.
  ofApple(
    "AppleClient", ["CryptoKit", "DeviceCheck", "Foundation", "Network", "Security"], ["PortcullisProtocol"],
    isOfPackage: true),
  ofApple(
    "ApplePhone", ["Foundation", "LocalAuthentication", "Security"],
    ["PortcullisClient", "PortcullisProtocol"],
    isOfPackage: true),
  .testTarget(
    name: "AppleClientTests",
    dependencies: [
      "Addresses", "AppAttest", "AppleClient", "AppleDeviceCheck", "AppleFoundation",
      "AppleLocalAuthentication", "AppleNetwork", "ApplePhone", "AppleSecurity", "Bytes", "COpenSSL",
      "Crypto",
      "Device", "Gateway", "Kit", "PortcullisProtocol", "System", "TLSPeers",
      "TestGate", "Time", "WebSocketWire",
    ], path: "Tests/Unit/Phone/AppleClientTests", swiftSettings: strict),
]

let package = Package(
  name: "portcullis",
  platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "PortcullisClient", targets: ["PortcullisClient"]),
    .library(name: "PortcullisDevice", targets: ["PortcullisDevice"]),
    .library(name: "PortcullisProtocol", targets: ["PortcullisProtocol"]),
    .library(name: "PortcullisTesting", targets: ["PortcullisTesting"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
  ],
  targets: modules.map(\.target) + testTargets + appleTargets
)
