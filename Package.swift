// swift-tools-version: 6.3
import PackageDescription

// One row per room; the arrows point from what the wire says (pure cores) towards what the gate does (Gateway).
let safe: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
]
let strict = safe + [.treatAllWarnings(as: .error)]

func room(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: [.byName(name: name)] + dependencies, swiftSettings: strict)
}

let package = Package(
  name: "portcullis",
  products: [.library(name: "PortcullisProtocol", targets: ["PortcullisProtocol"])],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  ],
  targets: [
    // C fences: headers, inline shims for macros, and the one BIO. Everything above is Swift.
    .target(name: "CLinux"),
    .target(name: "COpenSSL", linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(name: "CCBOR", linkerSettings: [.linkedLibrary("cbor")]),
    .target(name: "CZlib", linkerSettings: [.linkedLibrary("z")]),
    .target(name: "CSeccomp", linkerSettings: [.linkedLibrary("seccomp")]),

    // Pure: bytes in, values out.
    // What a client has to know of the gate, for whoever writes one: without dependencies, and a product of its own. Xcode
    // does not build a package whose warnings are errors for another one.
    .target(name: "PortcullisProtocol", swiftSettings: safe),
    room("Bytes"),
    room("JSON", ["Bytes"]),
    room("Addresses", ["Bytes"]),
    room("HTTPWire", ["Addresses", "Bytes", "PortcullisProtocol"]),
    room("ProxyProtocol", ["Addresses", "Bytes"]),
    room("WebSocketWire", ["Bytes", "Crypto", "HTTPWire", "PortcullisProtocol"]),
    room("CBOR", ["Bytes", "CCBOR"]),
    room("Identity", ["Bytes", "Crypto"]),
    room("X509", ["Bytes", "Crypto", "System"]),
    room(
      "AppAttest", ["Bytes", "CBOR", "Crypto", "Identity", "JSON", "PortcullisProtocol", "System", "X509"]),

    // Rooms that wrap C.
    room("Deflate", ["Bytes", "CZlib", "WebSocketWire"]),
    room("System", ["Bytes", "CLinux"]),
    room("Confinement", ["Bytes", "CLinux", "CSeccomp", "System"]),
    room("Crypto", ["Bytes", "COpenSSL", "System"]),
    room("TLS", ["Bytes", "COpenSSL", "Crypto", "Sockets", "System"]),
    room("Sockets", ["Addresses", "Bytes", "CLinux", "System"]),

    // State and the gate itself.
    room("KeyStore", ["Bytes", "CLinux", "Identity", "JSON", "System"]),
    room("Configuration", ["Addresses", "Bytes", "CLinux", "Identity", "System"]),
    room(
      "Device",
      [
        "Addresses", "Bytes", "CBOR", "CLinux", "COpenSSL", "Crypto", "Deflate", "JSON", "PortcullisProtocol",
        "System", "WebSocketWire",
      ]),
    room("Bench", ["Bytes", "Device", "JSON", "PortcullisProtocol", "System"]),
    room("Control", ["Bytes", "JSON", "Sockets", "System"]),
    room("Vectors", ["AppAttest", "Bytes", "Crypto", "Identity", "JSON", "System"]),
    room("Logs", ["Bytes", "System", .product(name: "Logging", package: "swift-log")]),

    room(
      "Gateway",
      [
        "Addresses", "AppAttest", "Bytes", "Configuration", "Crypto", "Deflate", "HTTPWire", "Identity",
        "JSON", "KeyStore", "Logs", "PortcullisProtocol", "ProxyProtocol", "Sockets", "System", "TLS",
        "WebSocketWire", .product(name: "Logging", package: "swift-log"),
      ]),

    room(
      "Demo",
      [
        "Addresses", "AppAttest", "Bytes", "Configuration", "Crypto", "Device", "Gateway", "KeyStore", "Logs",
        "Sockets",
        "System", "TLS", .product(name: "Logging", package: "swift-log"),
      ]),

    .executableTarget(
      name: "portcullis",
      dependencies: [
        "Addresses", "AppAttest", "Bench", "Bytes", "Configuration", "Confinement", "Control", "Crypto",
        "Demo", "Device", "Gateway", "HTTPWire", "Identity", "JSON", "KeyStore", "Logs", "PortcullisProtocol",
        "Sockets", "System", "TLS", "Vectors",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ],
      swiftSettings: strict),

    // What `make fuzz` drives; its tests replay the seeds. A target of tests, as it reads what modules keep to
    // themselves: a plain release build, also that of whoever depends on this package, would fail over it.
    .testTarget(
      name: "Fuzzing",
      dependencies: [
        "Addresses", "AppAttest", "Bytes", "CBOR", "Configuration", "Crypto", "Deflate", "HTTPWire",
        "Identity",
        "JSON", "KeyStore", "ProxyProtocol", "System", "WebSocketWire", "X509",
      ],
      path: "Tests/Fuzzing", exclude: ["Dictionaries", "Seeds"], swiftSettings: strict),

    // Not installed: what `make bench` measures in process.
    .executableTarget(
      name: "portcullis-bench",
      dependencies: [
        "AppAttest", "Bytes", "CLinux", "Crypto", "Device", "Gateway", "Identity", "JSON", "KeyStore",
        "PortcullisProtocol", "System",
      ],
      swiftSettings: strict),

    // TLS clients and certificates for tests.
    .target(
      name: "TLSPeers", dependencies: ["COpenSSL", "Crypto", "System"], path: "Tests/Support/TLSPeers",
      swiftSettings: strict),

    tests("Bytes"),
    tests("Fuzzing"),
    tests("Device", ["AppAttest", "Bytes", "Crypto", "Identity", "JSON", "System"]),
    tests("Bench", ["Device", "JSON", "System"]),
    tests("Addresses"),
    tests("PortcullisProtocol"),
    tests("HTTPWire", ["Bytes", "PortcullisProtocol"]),
    tests("ProxyProtocol", ["Addresses", "Bytes"]),
    tests("WebSocketWire", ["Bytes", "Crypto", "HTTPWire"]),
    tests("CBOR", ["Bytes"]),
    tests("Deflate", ["CZlib", "WebSocketWire"]),
    tests("Crypto", ["Bytes"]),
    tests(
      "AppAttest",
      ["Bytes", "CBOR", "COpenSSL", "Crypto", "Identity", "System", "X509", "X509Tests"]),
    tests(
      "Control",
      [
        "Addresses", "AppAttest", "Bytes", "Configuration", "Crypto", "Device", "Gateway", "HTTPWire",
        "JSON", "KeyStore",
        "Logs", "Sockets", "System", "TLS", .product(name: "Logging", package: "swift-log"),
      ]),
    tests("Identity", ["Bytes"]),
    tests("X509", ["Bytes", "COpenSSL", "System"]),
    tests("JSON"),
    tests("System"),
    tests("Confinement", ["CLinux", "CSeccomp", "System"]),
    tests("Sockets", ["Addresses", "System"]),
    tests("TLS", ["Bytes", "COpenSSL", "Crypto", "Sockets", "System", "TLSPeers"]),
    tests(
      "Gateway",
      [
        "Addresses", "AppAttest", "Bytes", "COpenSSL", "Configuration", "Crypto", "HTTPWire", "Identity",
        "KeyStore",
        "Logs", "PortcullisProtocol",
        "Sockets", "System", "TLS", "TLSPeers", "WebSocketWire",
        .product(name: "Logging", package: "swift-log"),
      ]),
    tests("Configuration", ["Addresses", "Identity"]),
    tests("Logs", ["Bytes", "System", .product(name: "Logging", package: "swift-log")]),
    tests("KeyStore", ["Bytes", "Identity", "JSON", "System"]),
  ]
)
