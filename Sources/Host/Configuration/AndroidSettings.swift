/// What is set about evidence of Android phones (docs/settings.md, "Devices"): whose apps, by whose keys and roots, and
/// which certificates are trusted no more.
package import DeviceWire

extension GateConfiguration.Devices {
  package struct Android: Sendable, Equatable {
    /// Empty where no Android phone attests.
    package internal(set) var apps: [AndroidApp] = []
    /// Certificates beside Google's.
    package internal(set) var rootsPath: String?
    package internal(set) var revocationPath: String?
    package internal(set) var revocationMaximumAge = Duration.zero
    /// The Play Console's keys; nil where tokens cannot be opened.
    package internal(set) var playKeysPath: String?
    package internal(set) var playMinimum = PlayMinimum.device
  }

  /// What Google has to say of the device at least.
  package enum PlayMinimum: String, CaseIterable, Sendable {
    case device
    case strong
  }
}

extension SettingTable {
  static let android: [Setting] = [
    Setting(
      "ANDROID_APPS", .androidApps, \.devices.android.apps, otherwise: "no Android phone can attest",
      in: .devices, isReloadable: true,
      "The Android apps that may attest, each with the SHA-256 of a certificate that signs it; a second pair for a "
        + "second one."),
    Setting(
      "ANDROID_ROOTS_PATH", .path, optional: \.devices.android.rootsPath,
      otherwise: "Google's roots, which are built in", in: .devices, isReloadable: true,
      "Roots of key attestations beside Google's, in PEM, for tests; refused in production."),
    Setting(
      "ANDROID_REVOCATION_PATH", .path, optional: \.devices.android.revocationPath,
      otherwise: "no key attestation is taken", in: .devices, isReloadable: true,
      "Google's list of revoked certificates, which a timer of yours fetches; read again as soon as it changes."
    ),
    Setting(
      "ANDROID_REVOCATION_MAX_AGE", .duration(.seconds(1)...Duration.seconds(365 * 86_400)),
      \.devices.android.revocationMaximumAge, default: "7d", in: .devices, isReloadable: true,
      "How old that file may be; then no key attestation is taken, as nobody knows what was revoked since."),
    Setting(
      "PLAY_INTEGRITY_KEYS_PATH", .path, optional: \.devices.android.playKeysPath,
      otherwise: "no token of Play Integrity is taken", in: .devices, isReloadable: true,
      "The keys that the Play Console gives out for classic requests, in JSON, mode 0600: who has them reads tokens."
    ),
    Setting(
      "PLAY_INTEGRITY_MIN", .choice, \.devices.android.playMinimum, default: "device", in: .devices,
      isReloadable: true,
      "What Play has to find: device, or strong, which asks for security updates of the last year as well."),
  ]
}

extension SettingSyntax where Value == [AndroidApp] {
  static let androidApps = SettingSyntax("package:sha256, several with commas") {
    (text) throws(SettingError) in
    do throws(AndroidApp.ParseError) {
      return try AndroidApp.list(parsing: text)
    } catch {
      throw SettingError(error.description)
    }
  }
}

extension CombinationRules {
  /// Those with a default are left alone, as a file may state every default.
  static let androidNeedingDevices = [
    "ANDROID_APPS", "ANDROID_ROOTS_PATH", "ANDROID_REVOCATION_PATH", "PLAY_INTEGRITY_KEYS_PATH",
  ]

  mutating func checkAndroidValues() {
    if stated["ANDROID_APPS"] == nil {
      for name in Self.androidNeedingDevices where stated[name] != nil {
        report(
          name, "is set without ANDROID_APPS",
          "set ANDROID_APPS as well, which says whose app may attest, or remove it")
      }
    }
    if configuration.isProduction, stated["ANDROID_ROOTS_PATH"] != nil {
      report(
        "ANDROID_ROOTS_PATH", "is refused in production",
        "remove it: the holder of such a root's key can make phones")
    }
  }

  mutating func checkAndroidFiles(_ files: any ConfigurationFiles) {
    let android = configuration.devices.android
    for (name, path, form) in [
      ("ANDROID_ROOTS_PATH", android.rootsPath, "certificates in PEM"),
      ("ANDROID_REVOCATION_PATH", android.revocationPath, "revoked certificates in JSON"),
      ("PLAY_INTEGRITY_KEYS_PATH", android.playKeysPath, "keys in JSON"),
    ] where isValid(name) {
      guard let path else { continue }
      checkReadable(name, path, "name a file of \(form)", files)
      guard files.kind(of: path) == .file else { continue }
      if name == "PLAY_INTEGRITY_KEYS_PATH" {
        if !files.isKept(path, for: configuration.runAs?.user) {
          report(
            name, "names a file that others than the gate's user may read or write",
            "give it to the gate's user (chown) with mode 0600, or to his group with mode 0640")
        }
      } else if files.isOthersToWrite(path) {
        report(
          name, "names a file that other users may write, and so decide which phones are genuine",
          "chmod go-w \(quoted(path))")
      }
    }
  }
}
