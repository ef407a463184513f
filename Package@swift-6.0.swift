// swift-tools-version: 6.0
import PackageDescription

// The libraries for apps and nothing else, for Xcode versions that cannot read Package.swift. ManifestTests keep both equal.
let plain: [SwiftSetting] = [.swiftLanguageMode(.v6)]
#if os(macOS)
  let (excluded, manifest): ([String], [Resource]) = ([], [.process("PrivacyInfo.xcprivacy")])
#else
  let (excluded, manifest): ([String], [Resource]) = (["PrivacyInfo.xcprivacy"], [])
#endif

let package = Package(
  name: "portcullis",
  platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v9), .visionOS(.v1)],
  products: [
    .library(name: "PortcullisClient", targets: ["PortcullisClient"]),
    .library(name: "PortcullisDevice", targets: ["PortcullisDevice"]),
    .library(name: "PortcullisProtocol", targets: ["PortcullisProtocol"]),
    .library(name: "PortcullisTesting", targets: ["PortcullisTesting"]),
  ],
  targets: [
    .target(
      name: "PortcullisProtocol", dependencies: [], path: "Sources/Wire/PortcullisProtocol",
      swiftSettings: plain),
    .target(
      name: "PortcullisClient", dependencies: ["PortcullisProtocol"], path: "Sources/Phone/PortcullisClient",
      exclude: excluded, resources: manifest, swiftSettings: plain),
    .target(
      name: "PortcullisDevice", dependencies: ["PortcullisClient", "PortcullisProtocol"],
      path: "Sources/Phone/PortcullisDevice", swiftSettings: plain),
    .target(
      name: "PortcullisTesting", dependencies: ["PortcullisClient", "PortcullisProtocol"],
      path: "Sources/Phone/PortcullisTesting", swiftSettings: plain),
  ]
)
