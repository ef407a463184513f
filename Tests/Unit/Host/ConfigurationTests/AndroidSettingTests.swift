import DeviceWire
import Testing

@testable import Configuration

/// The settings of Android phones' evidence.
@Suite struct AndroidSettingTests {
  private static let digest = String(repeating: "0a", count: 32)
  private static let app = ("ANDROID_APPS", "com.example.mud:\(digest)")
  private static let paths = ["ANDROID_ROOTS_PATH", "ANDROID_REVOCATION_PATH", "PLAY_INTEGRITY_KEYS_PATH"]
  /// Read in `allOfThem`.
  static let names = Set(paths + ["ANDROID_APPS", "ANDROID_REVOCATION_MAX_AGE", "PLAY_INTEGRITY_MIN"])
  private static let on = DeviceSettingTests.on + [app]

  @Test func noneByDefault() throws {
    let android = try load(DeviceSettingTests.on).configuration.devices.android
    #expect(android.apps.isEmpty && android.revocationMaximumAge == .seconds(7 * 86_400))
    #expect(android.playMinimum == .device && android.revocationPath == nil)
  }

  @Test func allOfThem() throws {
    let loaded = try load(
      Self.on,
      adding: [
        ("ANDROID_ROOTS_PATH", "root.pem"), ("ANDROID_REVOCATION_PATH", "policy.json"),
        ("ANDROID_REVOCATION_MAX_AGE", "1d"), ("PLAY_INTEGRITY_KEYS_PATH", "key.pem"),
        ("PLAY_INTEGRITY_MIN", "strong"),
      ])
    let android = loaded.configuration.devices.android
    #expect(android.apps.map(\.package) == ["com.example.mud"])
    #expect(android.rootsPath == "root.pem" && android.revocationPath == "policy.json")
    #expect(android.revocationMaximumAge == .seconds(86_400) && android.playKeysPath == "key.pem")
    #expect(android.playMinimum == .strong && loaded.configuration.files.android == android)
    // All of it can change while the gate runs.
    let before = try load(DeviceSettingTests.on).configuration
    #expect(before.reloadDifferences(to: loaded.configuration).needRestart.isEmpty)
  }

  @Test(arguments: [
    ("ANDROID_APPS", "com.example.mud"), ("ANDROID_APPS", "mud:\(digest)"), ("ANDROID_APPS", ""),
    ("ANDROID_REVOCATION_MAX_AGE", "0"), ("ANDROID_REVOCATION_MAX_AGE", "never"),
    ("PLAY_INTEGRITY_MIN", "basic"),
  ])
  func refused(name: String, text: String) {
    #expect(problems(Self.on, adding: [(name, text)]).map(\.name) == [name], "\(name)=\(text)")
  }

  @Test(arguments: paths) func nothingByHalves(name: String) {
    let files = ["ANDROID_ROOTS_PATH": "root.pem", "ANDROID_REVOCATION_PATH": "policy.json"]
    let stated = [(name, files[name] ?? "key.pem")]
    let alone = problems(DeviceSettingTests.on, adding: stated)
    #expect(alone.map(\.name) == [name] && alone.first?.reason == "is set without ANDROID_APPS")
    let without = problems(adding: stated)
    #expect(without.map(\.name) == [name] && without.first?.reason == "is set without DEVICES_PATH")
    #expect(problems(Self.on, adding: stated).isEmpty)
    #expect(problems(Self.on, adding: [(name, "missing")]).map(\.name) == [name])
    #expect(problems(Self.on, adding: [(name, "config")]).map(\.name) == [name])
  }

  /// Who comes in by a key of his own needs no app of Apple's.
  @Test func aGateForAndroidAlone() throws {
    let android = Self.on.filter { $0.0 != "APPATTEST_APP_IDS" }
    #expect(problems(android).map(\.name) == ["APPATTEST_APP_IDS"])
    let loaded = try load(android, adding: [("GATE_DEVICES", "hardware_attested")])
    #expect(loaded.configuration.attest.appIDs.isEmpty && loaded.configuration.requiresAppAuth)
  }

  @Test func appsNeedDevices() {
    #expect(problems(adding: [Self.app]).map(\.reason) == ["is set without DEVICES_PATH"])
    // What has a default may be stated in any file.
    let defaults = [("ANDROID_REVOCATION_MAX_AGE", "7d"), ("PLAY_INTEGRITY_MIN", "device")]
    #expect(problems(adding: defaults).isEmpty && problems(DeviceSettingTests.on, adding: defaults).isEmpty)
  }

  /// Whoever has the key of a root makes any phone he likes.
  @Test func productionHasGooglesRoots() {
    let environment = production + Self.on.suffix(3)
    #expect(
      problems(environment, adding: [("ANDROID_ROOTS_PATH", "root.pem")]).map(\.name) == [
        "ANDROID_ROOTS_PATH"
      ])
    #expect(problems(environment, adding: [("ANDROID_REVOCATION_PATH", "policy.json")]).isEmpty)
  }

  @Test func filesThatOthersGetAt() {
    var files = ImaginaryFiles.complete
    files.others = ["key.pem"]
    let keys = problems(Self.on, adding: [("PLAY_INTEGRITY_KEYS_PATH", "key.pem")], files: files)
    let remedy = "give it to the gate's user (chown) with mode 0600, or to his group with mode 0640"
    #expect(keys.map(\.remedy) == [remedy])
    files.othersToWrite = ["policy.json", "root.pem"]
    for (name, path) in [("ANDROID_REVOCATION_PATH", "policy.json"), ("ANDROID_ROOTS_PATH", "root.pem")] {
      #expect(problems(Self.on, adding: [(name, path)], files: files).map(\.remedy) == ["chmod go-w \(path)"])
    }
  }
}
