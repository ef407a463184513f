/// The key store without a gate: read beside whoever owns it, or owned for a moment to edit it (docs/key-store.md,
/// "One owner").
import ArgumentParser
import Bytes
import Configuration
import Confinement
import Crypto
import Gateway
import KeyStore
import System

enum StoreAccess {
  static func read(_ configuration: GateConfiguration) throws -> KeyStoreReader.Contents {
    do {
      return try KeyStoreReader.read(
        configuration.store.path, witness: configuration.store.pseudonymKeyPath)
    } catch {
      complain("ATTESTED_KEYS_PATH: \(error)")
      throw status(error).code
    }
  }

  /// Opens the store under its lock, lets `change` begin one change, and waits until that is durable.
  /// - Parameter next: what follows from it elsewhere, under the same lock: no gate comes in between.
  static func edit<Result>(
    _ configuration: GateConfiguration, _ change: (KeyStore, CommitWait) throws -> Result,
    next: () throws -> Void = {}
  ) throws -> Result {
    try locked(configuration) { store in
      let wait = CommitWait()
      let result = try change(store, wait)
      guard wait.wait(within: CommitResult.deadline) == .committed else {
        complain("\(configuration.store.path) cannot be written: nothing is certain to have changed")
        throw ExitStatus.ioError.code
      }
      try next()
      return result
    }
  }

  /// Opens the store under its lock, which no gate has then; as whom a gate would serve.
  static func locked<Result>(
    _ configuration: GateConfiguration, _ body: (KeyStore) throws -> Result
  ) throws -> Result {
    try becomeServingUser(configuration)
    let store: KeyStore
    do {
      let options = KeyStore.Options(
        maximumKeys: configuration.store.maximumKeys, witness: configuration.store.pseudonymKeyPath)
      store = try KeyStore.open(path: configuration.store.path, options: options) { event in report(event) }
    } catch {
      if case .locked(_, let owner) = error {
        let process = owner?.description ?? "another process"
        complain(
          "\(process) owns \(configuration.store.path), but no gate answers at "
            + "\(configuration.controlSocketPath): give the same CONTROL_SOCKET as that gate has, or stop it")
      } else {
        complain("ATTESTED_KEYS_PATH: \(error)")
      }
      throw status(error).code
    }
    defer { store.close() }
    return try body(store)
  }

  /// Files that root made could not be opened by the gate, and what root opens might be a link that its user put there.
  /// Where `RUN_AS` names nobody, a service manager starts the gate as him whose the store's folder is.
  private static func becomeServingUser(_ configuration: GateConfiguration) throws {
    guard Account.effectiveUser == 0 else { return }
    let decision: ServingDecision
    if configuration.runAs != nil {
      decision = try Startup.servingDecision(configuration.files)
    } else {
      let path = configuration.store.path
      let real = (try? RealPath.of(path)) ?? path
      let folder = real.lastIndex(of: "/").map { String(real[...$0]) } ?? "."
      // Without one there is nothing to open, as the store says.
      guard let status = try? FileStatus.of(folder), status.user != 0 else { return }
      decision = .becomes(.owner(user: status.user, group: status.group))
    }
    do {
      try Credentials(decision).assume()
    } catch {
      complain("\(configuration.runAs == nil ? "the owner of the key store's folder" : "RUN_AS"): \(error)")
      throw ExitStatus.osError.code
    }
  }

  private static func report(_ event: KeyStoreEvent) {
    switch event {
    case .tornTail(let file, let offset, let bytes):
      complain("\(file): an unfinished batch of \(bytes) bytes at \(offset) was cut off")
    case .snapshotFailed(let error, _): complain("the snapshot cannot be written: \(error)")
    case .journalHangs: complain("the journal cannot be written: the disk does not answer")
    case .journalFailed(let error): complain("the journal cannot be written: \(error)")
    case .segmentNotRemoved(let file, let error): complain("\(file) cannot be removed: \(error)")
    case .revocationsLost(let keys):
      complain("not written, so revoke again: \(keys.map(\.base64).joined(separator: ", "))")
    case .loaded, .recovered, .unknownEnvironment, .malformedAppID, .identifierMismatch, .snapshotWritten,
      .serviceRecovered, .journalAnswered:
      break
    }
  }

  /// What a command, `serve` included, ends with when the store cannot be opened.
  static func status(_ error: KeyStoreError) -> ExitStatus {
    switch error {
    case .locked, .neverStill: .temporaryFailure
    case .damagedSnapshot, .damagedJournal, .unsupportedJournal: .dataError
    case .directoryMissing, .notAFile, .notReplaceable, .symbolicLink, .danglingLink, .gone: .configuration
    case .failed: .ioError
    }
  }
}
