/// `portcullis dev-certs`: certificates and keys for development, made into one folder (docs/running.md, "Commands").
import ArgumentParser
import Device
import Dialing
import Prompt
import System
import Time

struct DevCerts: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dev-certs",
    abstract: "Make certificates and keys for development.",
    discussion: """
      A server certificate for localhost and the names given, with its authority (install ca.pem in the \
      simulator, or pass it to clients); a client authority with a client certificate for the mTLS fallback, \
      also as PKCS #12 for the app bundle (AES-256: iOS 16 or later); and, for `portcullis simulate`, what stands in \
      for Apple and Google: a root of App Attest, one of Android's key attestation, and keys for Play Integrity.

      None of it is for production, where the gate refuses foreign attestation roots.
      """)

  @Option(
    name: [.long, .customShort("d")], help: "The folder to write to; made when missing.",
    completion: .directory)
  var directory = "certs/dev"

  @Option(name: .customLong("name"), help: "Another host name or address of the server; may be repeated.")
  var names: [DevelopmentCertificates.ServerName] = []

  @Option(help: "The password of client.p12, which the app must know.")
  var password = "portcullis"

  @Flag(help: "Replace files that are there already: all keys become new ones.")
  var force = false

  func run() throws {
    do {
      let made = try DevelopmentCertificates.make(names: names, password: password, now: SystemClock().wall())
      try made.write(to: directory, overwriting: force)
    } catch {
      complain(error.description)
      if case .exists = error {
        complain("nothing was written; --force replaces them, --directory names another folder")
        throw ExitStatus.cannotCreate
      }
      if case .file = error { throw ExitStatus.cannotCreate }
      throw ExitStatus.software
    }
    print(summary)
  }

  private var summary: String {
    typealias Name = DevelopmentCertificates.FileName
    typealias Attestation = TestAttestationAuthority.FileName
    typealias Android = TestAndroidAuthority.FileName
    typealias Play = TestPlayService.FileName
    return """
      Written to \(directory)/ (keys are readable by you alone):

      for the gate       TLS_CERT_PATH=\(directory)/\(Name.server)
                         TLS_KEY_PATH=\(directory)/\(Name.serverKey)
                         APPATTEST_ROOT_CA_PATH=\(directory)/\(Attestation.root)
                         ANDROID_ROOTS_PATH=\(directory)/\(Android.root)
                         PLAY_INTEGRITY_KEYS_PATH=\(directory)/\(Play.keys)
                         MTLS_CLIENT_CA_PATH=\(directory)/\(Name.clientAuthority)
                         (the last one with ALLOW_MTLS_FALLBACK=true)
      for clients        \(Name.serverAuthority), the authority of the server's certificate
      for debug builds   \(Name.clientBundle) (\(Name.client) and \(Name.clientKey) in one file)
      for simulate       \(Attestation.intermediate) and its key,
                         \(Play.signingKey) in Google's place

      Try: portcullis simulate register --ca \(directory)/\(Name.serverAuthority) --authority \(directory) \\
             --app-id TEAMID1234.com.example.app
      """
  }
}

extension DevelopmentCertificates.ServerName: ExpressibleByArgument {
  public init?(argument: String) {
    self.init(argument)
  }
}
