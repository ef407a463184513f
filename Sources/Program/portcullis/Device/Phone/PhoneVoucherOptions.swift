/// What vouches for a software phone's keys, as the command line of `portcullis simulate phone` says it.
import ArgumentParser
import Device
import DeviceWire
import System

struct PhoneVoucherOptions: ParsableArguments {
  @Option(
    help: "iOS: the file with the app's key, as simulate register makes it; made when it is not there.",
    completion: .file())
  var app: String?

  @Option(help: "iOS: <team id>.<bundle id>; needed for a new key.")
  var appID: String?

  @Option(help: "iOS: the App Attest environment of a new key, production or development.")
  var environment = AttestationEnvironment.development

  @Option(
    help: "Android: the app and the SHA-256 of its signer, as one item of ANDROID_APPS: package:sha256.")
  var androidApp: AndroidApp?

  @Option(
    help: """
      Android: let Play Integrity vouch for the app, and say that the phone meets none, basic, device or strong.
      """)
  var play: TestPlayService.Integrity?

  @Option(
    help: "The folder with the test authorities, as `portcullis dev-certs` makes it.", completion: .directory)
  var authority = "certs/dev"

  @Flag(help: "Android, to be refused: what vouches is made for another challenge than the gate's.")
  var wrongChallenge = false

  func validate() throws {
    guard appID == nil || app != nil else { throw ValidationError("--app-id belongs to --app.") }
    if let app, appID == nil, !WholeFile.exists(app) {
      throw ValidationError("--app-id is needed: there is no key at \(app) yet.")
    }
    guard app == nil || androidApp == nil else {
      throw ValidationError("--app and --android-app exclude each other.")
    }
    guard androidApp != nil || (play == nil && !wrongChallenge) else {
      throw ValidationError("--play and --wrong-challenge belong to --android-app.")
    }
  }

  /// - Parameter said: on the command line.
  func platform(_ said: DevicePlatform?) throws -> DevicePlatform {
    let own: DevicePlatform? = app != nil ? .ios : androidApp != nil ? .android : nil
    if let said, let own, said != own {
      throw ValidationError("what vouches for the phone is not of its --platform.")
    }
    return said ?? own ?? .ios
  }

  /// Nil where nothing vouches for the phone.
  func load() throws(GateClientError) -> PhoneVoucher? {
    do throws(DeviceError) {
      if let androidApp { return try load(androidApp) }
      guard let app else { return nil }
      let authority = try TestAttestationAuthority.load(from: authority)
      if WholeFile.exists(app) { return .app(PhoneApp(try .load(from: app), authority)) }
      guard let appID else { throw .unusable(path: app, reason: "removed meanwhile") }
      return .app(PhoneApp(try .generate(appID: appID, environment: environment, keptIn: app), authority))
    } catch {
      throw .device(error)
    }
  }

  private func load(_ app: AndroidApp) throws(DeviceError) -> PhoneVoucher? {
    guard let play else { return nil }
    let service = try TestPlayService.load(from: authority)
    return .play(PlayApp(app, service, integrity: play, heedsChallenge: !wrongChallenge))
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
