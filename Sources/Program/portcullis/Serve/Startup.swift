/// From environment and files to what a gate is made of, with every problem told to the operator (docs/settings.md,
/// "Problems").
import AppAttest
import ArgumentParser
import Bytes
import Configuration
import Confinement
import Crypto
import Identity
import KeyStore
import Logging
import System
import TLS

enum Startup {
  /// Where problems are told: standard error at the start, the log at a reload.
  typealias Teller = (String) -> Void

  /// The configuration, or all that is wrong with it and exit status 78.
  /// - Parameter rest: tells what is wrong with the files of a configuration that is wrong already.
  static func configuration(
    file path: String?, scope: ConfigurationLoader.Scope = .server, tell: Teller = { complain($0) },
    rest: (GateFiles) throws -> Void = { _ in }
  ) throws -> LoadedConfiguration {
    switch load(try file(path, tell: tell), scope: scope) {
    case .success(let loaded): return loaded
    case .failure(let failure):
      for warning in failure.warnings { tell("warning: \(warning)") }
      for problem in failure.problems { tell(problem.description) }
      try rest(failure.files)
      throw ExitStatus.configuration.code
    }
  }

  /// Environment and file as they are now, or all that is wrong with them.
  static func load(
    _ file: ConfigurationLoader.File?, scope: ConfigurationLoader.Scope = .server
  ) -> Result<LoadedConfiguration, ConfigurationFailure> {
    do {
      return .success(
        try ConfigurationLoader.load(
          environment: ProcessContext.environment(), file: file, files: SystemFiles(),
          processors: ProcessContext.processors(),
          descriptorLimit: ProcessContext.descriptorLimit(), scope: scope))
    } catch {
      return .failure(error)
    }
  }

  /// The file of `--config`, if there is one.
  static func file(_ path: String?, tell: Teller = { complain($0) }) throws -> ConfigurationLoader.File? {
    guard let path else { return nil }
    do {
      return ConfigurationLoader.File(
        path: path, contents: try SystemFiles().contents(of: path, limit: 1 << 20))
    } catch {
      tell("--config \(path) cannot be read: \(error); name a readable file of NAME=value lines")
      throw ExitStatus.configuration.code
    }
  }

  /// Certificate, key and client CA as their files have them now, or all that is wrong with them.
  static func tlsContents(_ files: GateFiles, tell: Teller = { complain($0) }) throws -> TLSContents {
    var isRead = true
    func unlessTold<Part>(_ read: () throws -> Part) -> Part? {
      do {
        return try read()
      } catch {
        isRead = false
        return nil
      }
    }
    let clientCA = files.clientCAPath.flatMap { path in unlessTold { try clientCAContents(path, tell) } }
    let chain = files.certificatePath.flatMap { path in
      unlessTold { try contents(of: path, setting: "TLS_CERT_PATH", tell) }
    }
    let key = files.keyPath.flatMap { path in unlessTold { try privateKey(path, tell) } }
    var material: TLSMaterial?
    if let chain, let key {
      let pair = TLSMaterial(certificateChainPEM: chain, privateKey: key, clientCAPEM: clientCA)
      material = unlessTold {
        try check(pair, files, tell)
        return pair
      }
    } else if let chain, let path = files.certificatePath {
      _ = unlessTold { try checkChain(chain, path, tell) }
    }
    guard isRead else { throw ExitStatus.configuration.code }
    return TLSContents(
      material: material, clientCA: clientCA,
      minimumVersion: files.minimumTLSVersion == .tls12 ? .tls12 : .tls13)
  }

  /// The material of the files; outside production without paths, that of a certificate made for this run, and kept at a
  /// reload so that pins of it stay good.
  static func tlsMaterial(
    _ contents: TLSContents, keeping made: TLSMaterial? = nil, logger: Logger
  ) throws -> TLSMaterial {
    var material = try contents.material ?? made ?? selfSignedMaterial(logger)
    if contents.material == nil { material.clientCAPEM = contents.clientCA }
    material.minimumVersion = contents.minimumVersion
    return material
  }

  private static func selfSignedMaterial(_ logger: Logger) throws -> TLSMaterial {
    let made = try SelfSignedCertificate.localhost()
    logger.warning("self_signed_certificate", metadata: ["sha256": "\(made.fingerprint)"])
    return TLSMaterial(
      certificateChainPEM: Array(made.certificate.pem.utf8), privateKeyPEM: Array(try made.key.pem().utf8),
      clientCAPEM: nil)
  }

  /// Whether certificate and key can be used together; told with the setting's name otherwise.
  private static func check(_ material: TLSMaterial, _ files: GateFiles, _ tell: Teller) throws {
    do {
      _ = try TLSServerContext.make(material, tickets: TicketKeys())
    } catch {
      let certificate = "TLS_CERT_PATH=\(files.certificatePath ?? "")"
      let key = "TLS_KEY_PATH=\(files.keyPath ?? "")"
      switch error {
      case .certificateUnreadable:
        tell("\(certificate): \(error); name a PEM file, the server's certificate first")
      case .keyUnreadable:
        tellOfKey(files.keyPath ?? "", error, tell)
      case .keyDoesNotMatch: tell("\(key), \(certificate): \(error); name the two files of one pair")
      case .clientCAUnreadable: tellOfClientCA(files.clientCAPath ?? "", error, tell)
      case .refused: tell("TLS: \(error)")
      }
      throw ExitStatus.configuration.code
    }
  }

  /// Where there is no key to go with it.
  private static func checkChain(_ chain: [UInt8], _ path: String, _ tell: Teller) throws {
    do {
      _ = try CertificateSummary.all(inPEM: chain.span)
    } catch {
      tell("TLS_CERT_PATH=\(path) holds no certificates; name a PEM file, the server's certificate first")
      throw ExitStatus.configuration.code
    }
  }

  /// Looked at by itself, as what is wrong with the server's certificate would hide it.
  private static func clientCAContents(_ path: String, _ tell: Teller) throws -> [UInt8] {
    let pem = try contents(of: path, setting: "MTLS_CLIENT_CA_PATH", tell)
    do {
      _ = try CertificateSummary.all(inPEM: pem.span)
    } catch {
      tellOfClientCA(path, .clientCAUnreadable(reason: "it holds no certificates"), tell)
      throw ExitStatus.configuration.code
    }
    return pem
  }

  private static func tellOfClientCA(_ path: String, _ error: TLSConfigurationError, _ tell: Teller) {
    tell("MTLS_CLIENT_CA_PATH=\(path): \(error); name a PEM file of CA certificates")
  }

  /// Apple's root, or outside production the one that replaces it.
  static func attestationRoot(
    _ files: GateFiles, tell: Teller = { complain($0) }
  ) throws -> AttestationRoot {
    guard let path = files.rootPath else { return .apple() }
    let pem = try contents(of: path, setting: "APPATTEST_ROOT_CA_PATH", tell)
    let root: AttestationRoot
    do {
      root = try AttestationRoot(pem: pem.span)
    } catch {
      tell(
        "APPATTEST_ROOT_CA_PATH=\(path) is no root certificate (\(error)): name a PEM file with one P-384 CA")
      throw ExitStatus.configuration.code
    }
    if files.isProduction, !root.isApple {
      tell(
        "APPATTEST_ROOT_CA_PATH=\(path) is not Apple's root, SHA-256 \(root.fingerprint.hex): in production unset it"
      )
      throw ExitStatus.configuration.code
    }
    return root
  }

  /// Loaded and locked; nothing becomes durable until it begins.
  static func store(
    _ configuration: GateConfiguration, logger: Logger, tell: Teller = { complain($0) }
  ) throws -> KeyStore {
    let options = KeyStore.Options(
      durability: configuration.store.durability == .strict ? .strict : .relaxed,
      maximumKeys: configuration.store.maximumKeys,
      fingerprint: { point in SHA256.hash(point.x963.span) }, witness: configuration.store.pseudonymKeyPath)
    do throws(KeyStoreError) {
      let store = try KeyStore.recover(path: configuration.store.path, options: options) { event in
        StoreLog.report(event, to: logger)
      }
      do throws(KeyStoreError) {
        try store.noteMade(now: SystemClock().wall())
      } catch {
        store.close()
        throw error
      }
      return store
    } catch {
      tell("ATTESTED_KEYS_PATH: \(error)")
      throw StoreAccess.status(error).code
    }
  }

  /// The key of pseudonyms as its file has it; nil where there is none yet.
  static func pseudonymKey(_ file: PseudonymKeyFile) throws -> PseudonymKey? {
    do {
      return try file.read()
    } catch {
      complain(error.description)
      throw error.status.code
    }
  }

  /// The same, made where there was never one, and noted in the store before it is used.
  static func pseudonymKey(
    _ found: PseudonymKey?, _ file: PseudonymKeyFile, _ store: KeyStore, logger: Logger
  ) throws -> PseudonymKey {
    let key: PseudonymKey
    do throws(PseudonymKeyFile.Problem) {
      if let found {
        key = found
      } else {
        if let since = store.pseudonymKeyMadeAt { throw .lost(file.path, since: since) }
        key = try file.make(KernelEntropy())
        logger.notice("pseudonym_key_made", metadata: ["file": "\(file.path)"])
      }
    } catch {
      complain(error.description)
      throw error.status.code
    }
    do {
      try store.notePseudonymKey(now: SystemClock().wall())
    } catch {
      complain("ATTESTED_KEYS_PATH: \(error)")
      throw StoreAccess.status(error).code
    }
    return key
  }

  /// Looked at by itself, as what is wrong with the certificate would hide it.
  private static func privateKey(_ path: String, _ tell: Teller) throws -> PrivateKeyText {
    let key: PrivateKeyText
    do {
      key = try PrivateKeyText.read(path, limit: 1 << 20)
    } catch {
      tell("TLS_KEY_PATH=\(path) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.configuration.code
    }
    do {
      try TLSServerContext.check(key)
    } catch {
      tellOfKey(path, error, tell)
      throw ExitStatus.configuration.code
    }
    return key
  }

  private static func tellOfKey(_ path: String, _ error: TLSConfigurationError, _ tell: Teller) {
    tell("TLS_KEY_PATH=\(path): \(error); name the PEM file of the certificate's key, without a pass phrase")
  }

  // MARK: Whom to serve as

  static func servingDecision(_ files: GateFiles) throws -> ServingDecision {
    do {
      return try ServingDecision.make(
        wanted: files.runAs.map { ($0.user, $0.group) }, isProduction: files.isProduction)
    } catch {
      complain(error.description)
      throw ExitStatus.configuration.code
    }
  }

  private static func contents(of path: String, setting: String, _ tell: Teller) throws -> [UInt8] {
    do {
      return try SystemFiles().contents(of: path, limit: 1 << 20)
    } catch {
      tell("\(setting)=\(path) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.configuration.code
    }
  }
}

/// What the files of certificates hold.
struct TLSContents {
  /// Nil where none are named.
  let material: TLSMaterial?
  let clientCA: [UInt8]?
  let minimumVersion: TLSVersion
}
