/// What vouches for a software phone's keys, as the command line of `portcullis simulate phone` says it.
import ArgumentParser
import Device
import DeviceWire
import Dialing
import Identity
import System

struct PhoneVoucherOptions: ParsableArguments {
  @Option(
    help: "iOS: the file with the app's key, as simulate register makes it; made when it is not there.",
    completion: .file())
  var app: String?

  @Option(help: "iOS: <team id>.<bundle id>; needed for a new key.")
  var appID: String?

  @Option(help: "iOS: the App Attest environment of a new key, production or development.")
  var environment = AttestEnvironment.development

  @OptionGroup var android: AndroidOptions

  @Option(
    help: "The folder with the test authorities, as `portcullis dev-certs` makes it.", completion: .directory)
  var authority = "certs/dev"

  func validate() throws {
    guard appID == nil || app != nil else { throw ValidationError("--app-id belongs to --app.") }
    if let app, appID == nil, !WholeFile.exists(app) {
      throw ValidationError("--app-id is needed: there is no key at \(app) yet.")
    }
    guard app == nil || android.androidApp == nil else {
      throw ValidationError("--app and --android-app exclude each other.")
    }
  }

  /// - Parameter said: on the command line.
  func platform(_ said: DevicePlatform?) throws -> DevicePlatform {
    let own: DevicePlatform? = app != nil ? .ios : android.androidApp != nil ? .android : nil
    if let said, let own, said != own {
      throw ValidationError("what vouches for the phone is not of its --platform.")
    }
    return said ?? own ?? .ios
  }

  /// Nil where nothing vouches for the phone.
  func load() throws(GateClientError) -> PhoneVoucher? {
    do throws(DeviceError) {
      if let voucher = try android.load(authority: authority) { return voucher }
      guard let app else { return nil }
      let authority = try TestAttestationAuthority.load(from: authority)
      if WholeFile.exists(app) { return .app(PhoneApp(try .load(from: app), authority)) }
      guard let appID else { throw .unusable(path: app, reason: "removed meanwhile") }
      return .app(PhoneApp(try .generate(appID: appID, environment: environment, keptIn: app), authority))
    } catch {
      throw .device(error)
    }
  }
}
