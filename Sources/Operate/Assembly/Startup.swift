/// From environment and files to what a gate is made of, with every problem told to the operator (docs/settings.md,
/// "Problems").
package import AppAttest
import Bytes
package import Configuration
import Confinement
import Crypto
package import Identity
package import KeyStore
package import Logging
package import Prompt
package import System
internal import Time
package import TLS

package enum Startup {
  /// The configuration, or all that is wrong with it and exit status 78.
  /// - Parameter rest: tells what is wrong with the files of a configuration that is wrong already.
  package static func configuration(
    file path: String?, scope: ConfigurationLoader.Scope = .server, tell: Teller = { complain($0) },
    rest: (GateFiles) throws -> Void = { _ in }
  ) throws -> LoadedConfiguration {
    switch load(try file(path, tell: tell), scope: scope) {
    case .success(let loaded): return loaded
    case .failure(let failure):
      for warning in failure.warnings { tell("warning: \(warning)") }
      for problem in failure.problems { tell(problem.description) }
      try rest(failure.files)
      throw ExitStatus.configuration
    }
  }

  /// Environment and file as they are now, or all that is wrong with them.
  package static func load(
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
  package static func file(_ path: String?, tell: Teller = { complain($0) }) throws -> ConfigurationLoader
    .File?
  {
    guard let path else { return nil }
    do {
      return ConfigurationLoader.File(
        path: path, contents: try SystemFiles().contents(of: path, limit: 1 << 20))
    } catch {
      tell("--config \(path) cannot be read: \(error); name a readable file of NAME=value lines")
      throw ExitStatus.configuration
    }
  }

  /// Certificate, key and client CA as their files have them now, or all that is wrong with them.
  package static func tlsContents(_ files: GateFiles, tell: @escaping Teller = { complain($0) }) throws
    -> TLSContents
  {
    try TLSFiles(files) { tell($1) }.read()
  }

  /// The material of the files; outside production without paths, that of a certificate made for this run, and kept at a
  /// reload so that pins of it stay good.
  package static func tlsMaterial(
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
    return try TLSMaterial(made)
  }

  /// Apple's root, or outside production the one that replaces it.
  package static func attestationRoot(
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
      throw ExitStatus.configuration
    }
    if files.isProduction, !root.isApple {
      tell(
        "APPATTEST_ROOT_CA_PATH=\(path) is not Apple's root, SHA-256 \(root.fingerprint.hex): in production unset it"
      )
      throw ExitStatus.configuration
    }
    return root
  }

  /// Loaded and locked; nothing becomes durable until it begins.
  package static func store(
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
      throw StoreAccess.status(error)
    }
  }

  /// The key of pseudonyms as its file has it; nil where there is none yet.
  package static func pseudonymKey(_ file: PseudonymKeyFile) throws -> PseudonymKey? {
    do {
      return try file.read()
    } catch {
      complain(error.description)
      throw error.status
    }
  }

  /// The same, made where there was never one, and noted in the store before it is used.
  package static func pseudonymKey(
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
      throw error.status
    }
    do {
      try store.notePseudonymKey(now: SystemClock().wall())
    } catch {
      complain("ATTESTED_KEYS_PATH: \(error)")
      throw StoreAccess.status(error)
    }
    return key
  }

  // MARK: Whom to serve as

  static func servingDecision(_ files: GateFiles) throws -> ServingDecision {
    do {
      return try ServingDecision.make(
        wanted: files.runAs.map { ($0.user, $0.group) }, isProduction: files.isProduction)
    } catch {
      complain(error.description)
      throw ExitStatus.configuration
    }
  }

  /// What should always succeed: nothing is served with more privileges than were asked for.
  package static func refusal(_ error: SystemError) -> ExitStatus {
    complain("privileges cannot be given up: \(error)")
    return ExitStatus.osError
  }

  private static func contents(of path: String, setting: String, _ tell: Teller) throws -> [UInt8] {
    do {
      return try SystemFiles().contents(of: path, limit: 1 << 20)
    } catch {
      tell("\(setting)=\(path) cannot be read: \(error); correct the path or the file's owner and mode")
      throw ExitStatus.configuration
    }
  }
}
