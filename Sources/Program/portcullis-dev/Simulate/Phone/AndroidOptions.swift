/// What a software phone with Android is, and what vouches for it, as the command line says it.
import ArgumentParser
import Device
import DeviceWire
import Dialing

struct AndroidOptions: ParsableArguments {
  @Option(help: "Android: the app and the SHA-256 of its signer, as an item of ANDROID_APPS: package:sha256.")
  var androidApp: AndroidApp?

  @Option(
    help: """
      Android: let Play Integrity vouch for the app instead of the hardware for the keys, and say that the phone \
      meets none, basic, device or strong.
      """)
  var play: TestPlayService.Integrity?

  @Option(help: "Android: the hardware that has the keys, tee or strongbox.")
  var securityLevel = AndroidHardware.SecurityLevel.tee

  @Option(help: "Android: what was started is verified, self-signed, unverified or failed.")
  var bootState = AndroidHardware.BootState.verified

  @Flag(help: "Android: the boot loader is open.")
  var unlocked = false

  @Flag(help: "Android: the approval key signs without a finger or a face.")
  var withoutUserVerification = false

  @Flag(help: "Android: what vouches is made for another challenge than the gate's.")
  var wrongChallenge = false

  func validate() throws {
    guard
      androidApp != nil
        || (play == nil && securityLevel == .tee && bootState == .verified && !unlocked
          && !withoutUserVerification && !wrongChallenge)
    else { throw ValidationError("what is said of an Android phone belongs to --android-app.") }
  }

  /// Nil for a phone that is none of Android's.
  func load(authority folder: String) throws(DeviceError) -> PhoneVoucher? {
    guard let androidApp else { return nil }
    if let play {
      let service = try TestPlayService.load(from: folder)
      return .play(PlayApp(androidApp, service, integrity: play, heedsChallenge: !wrongChallenge))
    }
    var hardware = AndroidHardware(androidApp, try .load(from: folder))
    hardware.level = securityLevel
    hardware.bootState = bootState
    hardware.isLocked = !unlocked
    hardware.verifiesUser = !withoutUserVerification
    hardware.heedsChallenge = !wrongChallenge
    return .hardware(hardware)
  }
}

extension AndroidApp: ExpressibleByArgument {
  public init?(argument: String) {
    guard let apps = try? AndroidApp.list(parsing: argument), apps.count == 1, let app = apps.first else {
      return nil
    }
    self = app
  }
}

extension TestPlayService.Integrity: ExpressibleByArgument {}
extension AndroidHardware.SecurityLevel: ExpressibleByArgument {}
extension AndroidHardware.BootState: ExpressibleByArgument {}
