/// `portcullis simulate`: a software device that registers and connects as the app does (docs/running.md,
/// "Commands").
import ArgumentParser
import Device
import Dialing
import Identity
import System

struct Simulate: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Play the app: register a key, connect, or do both many times over.",
    discussion: """
      The key lives in a file instead of the Secure Enclave, and a test authority attests it instead of \
      Apple: the gate must have APPATTEST_ROOT_CA_PATH set to that authority's root (see `portcullis dev-certs`).

      Exit status: 0 done, 64 wrong usage, 65 unusable data, 69 gate unavailable, 77 refused by the gate.
      """,
    subcommands: [
      Register.self, Connect.self, Phone.self,
      Play.self,
      Desktop.self,
      SimulateBench.self,
    ])

  struct Register: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make a key, have it attested, and register it with the gate.",
      discussion: "A state file that is there already is used again, so that its key is registered once more."
    )

    @OptionGroup var gate: GateOptions
    @OptionGroup var device: DeviceOptions

    @Option(help: "<team id>.<bundle id>; needed for a new key.")
    var appID: String?

    @Option(help: "The App Attest environment of a new key: production or development.")
    var environment = AttestEnvironment.development

    @Option(
      help: "The folder with the test authority, as `portcullis dev-certs` makes it.", completion: .directory)
    var authority = "certs/dev"

    @Option(help: "Say this app version at launch, as iOS 27 does; needs --validation-category.")
    var bundleVersion: String?

    @Option(help: "Say this validation category at launch, as iOS 27 does; needs --bundle-version.")
    var validationCategory: UInt32?

    func validate() throws {
      guard (bundleVersion == nil) == (validationCategory == nil) else {
        throw ValidationError("--bundle-version and --validation-category belong together.")
      }
    }

    func run() throws {
      if appID == nil, !WholeFile.exists(device.state) {
        throw ValidationError("--app-id is needed: there is no key at \(device.state) yet.")
      }
      let client = try gate.client()
      do throws(GateClientError) {
        let app = SimulatedApp(client, try enclave())
        let authority: TestAttestationAuthority
        do { authority = try .load(from: self.authority) } catch { throw .device(error) }
        try app.register(with: authority)
        print("registered \(app.enclave.keyIdentifier)")
      } catch {
        throw SimulateFailure.report(error)
      }
    }

    private func enclave() throws(GateClientError) -> SoftwareEnclave {
      do throws(DeviceError) {
        if WholeFile.exists(device.state) {
          let enclave = try SoftwareEnclave.load(from: device.state)
          if let appID, appID != enclave.appID {
            throw .unusable(
              path: device.state, reason: "its key is one of \(enclave.appID); name another --state")
          }
          return enclave
        }
        guard let appID else { throw .unusable(path: device.state, reason: "removed meanwhile") }
        var launch: LaunchClaim?
        if let bundleVersion, let validationCategory {
          launch = LaunchClaim(validationCategory: validationCategory, bundleVersion: bundleVersion)
        }
        return try .generate(appID: appID, environment: environment, launch: launch, keptIn: device.state)
      } catch {
        throw .device(error)
      }
    }
  }
}

/// Which key: a file of mode 0600.
struct DeviceOptions: ParsableArguments {
  @Option(help: "The file that stands in for the Secure Enclave: key and counter.", completion: .file())
  var state = "certs/dev/device.json"
}

/// Which gate, and how it is to be trusted.
struct GateOptions: ParsableArguments {
  @Option(help: "Where the gate is: wss://host[:port][/path].")
  var url = GateURL(host: "localhost", port: 8443)

  @Option(help: "Trust the authorities in this PEM file instead of the system's.", completion: .file())
  var ca: String?

  @Option(help: "Trust the certificate with this SHA-256 fingerprint, and no other.")
  var pin: String?

  @Option(help: "A certificate to show to the gate (PEM).", completion: .file())
  var clientCert: String?

  @Option(help: "The key of --client-cert (PEM).", completion: .file())
  var clientKey: String?

  @Option(name: .customLong("header"), help: "A header for the upgrade, 'Name: value'; may be repeated.")
  var headers: [String] = []

  @Option(help: "How many seconds connecting, or one answer of the gate, may take.")
  var timeout = 10

  func validate() throws {
    _ = try Self.trust(ca: ca, pin: pin)
    guard (clientCert == nil) == (clientKey == nil) else {
      throw ValidationError("--client-cert and --client-key belong together.")
    }
    guard Self.timeouts.contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds.") }
    guard fields.count == headers.count else { throw ValidationError("--header takes 'Name: value'.") }
  }

  /// In seconds.
  static let timeouts = 1...3600

  static func trust(ca: String?, pin: String?) throws -> ServerTrust {
    if ca != nil, pin != nil { throw ValidationError("--ca and --pin exclude each other.") }
    if let ca { return .authorities(path: ca) }
    guard let pin else { return .system }
    guard let trust = ServerTrust.pin(fingerprint: pin) else {
      throw ValidationError("--pin takes 64 hexadecimal digits, with or without colons.")
    }
    return trust
  }

  var fields: [GateResponse.Field] {
    headers.compactMap { header in
      guard let colon = header.firstIndex(of: ":") else { return nil }
      let value = header[header.index(after: colon)...].drop { $0 == " " }
      return GateResponse.Field(String(header[..<colon]), String(value))
    }
  }

  private var certificate: ClientCertificate? {
    guard let clientCert, let clientKey else { return nil }
    return ClientCertificate(certificatePath: clientCert, keyPath: clientKey)
  }

  func client() throws -> GateClient {
    let trust = try Self.trust(ca: ca, pin: pin)
    do {
      return try GateClient(url, trust: trust, certificate: certificate, timeout: .seconds(timeout))
    } catch {
      throw SimulateFailure.report(error)
    }
  }

  func sessionGate(by credential: Credential) throws -> SessionGate {
    SessionGate(
      url: url, trust: try Self.trust(ca: ca, pin: pin), certificate: certificate, timeout: .seconds(timeout),
      credential: credential, fields: fields)
  }
}

extension GateURL: ExpressibleByArgument {
  public init?(argument: String) {
    self.init(argument)
  }

  public var defaultValueDescription: String { "wss://\(authority)\(path)" }
}

extension AttestEnvironment: ExpressibleByArgument {}
