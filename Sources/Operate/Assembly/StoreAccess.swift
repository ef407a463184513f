/// The key store without a gate: read beside its owner, or owned for a moment to edit it (docs/key-store.md,
/// "One owner").
package import Admission
import Bytes
package import Configuration
import Confinement
import Control
import Crypto
import Glibc
package import KeyStore
package import Prompt
internal import Scheduling
import System

package enum StoreAccess {
  package static func read(_ configuration: GateConfiguration) throws -> KeyStoreReader.Contents {
    let contents: KeyStoreReader.Contents
    do {
      contents = try KeyStoreReader.read(
        configuration.store.path, witness: configuration.store.pseudonymKeyPath)
    } catch {
      throw failure(error, configuration)
    }
    // Nothing at a path that somebody has stated is a gate before its first start; at a default it is the wrong folder.
    if !contents.isThere, configuration.unstated("ATTESTED_KEYS_PATH") != nil { throw missing(configuration) }
    return contents
  }

  /// A change of keys that there are: a store that is not there is not made, as an empty one would take it and ban nobody.
  private static func requireStore(_ configuration: GateConfiguration) throws {
    if try !read(configuration).isThere { throw missing(configuration) }
  }

  /// Where nobody has stated any setting, nothing says that a gate will ever look into this folder.
  package static func requireStoreOrSettings(_ configuration: GateConfiguration) throws {
    if configuration.origin.statedNames.isEmpty { try requireStore(configuration) }
  }

  private static func missing(_ configuration: GateConfiguration) -> ExitStatus {
    let path = configuration.store.path
    let place = path.hasPrefix("/") ? path : "\(path) in \(ControlAccess.folder)"
    complain(
      configuration.unstated("ATTESTED_KEYS_PATH").map { "\($0); there is no key store at \(place)" }
        ?? "ATTESTED_KEYS_PATH: there is no key store at \(place): correct the path, or start the gate, which makes it"
    )
    return ExitStatus.configuration
  }

  private static func failure(_ error: KeyStoreError, _ configuration: GateConfiguration) -> ExitStatus {
    let start = configuration.unstated("ATTESTED_KEYS_PATH").map { "\($0); " } ?? "ATTESTED_KEYS_PATH: "
    switch error {
    // Only a gate makes a store: to whoever looks for one its folder's absence says that it is elsewhere.
    case .directoryMissing: return missing(configuration)
    case .failed(let path, let error) where error.number == EACCES:
      complain("\(start)\(path): \(error): \(AccessRemedy.text(for: path))")
    default: complain("\(start)\(error)")
    }
    return status(error)
  }

  /// Opens the store under its lock, lets `change` begin one change, and waits until that is durable.
  /// - Parameter next: what follows from it elsewhere, under the same lock: no gate comes in between.
  package static func edit<Result>(
    _ configuration: GateConfiguration, _ change: (KeyStore, CommitWait) throws -> Result,
    next: () throws -> Void = {}
  ) throws -> Result {
    try requireStore(configuration)
    return try locked(configuration) { store in
      let wait = CommitWait()
      let result = try change(store, wait)
      guard wait.wait(within: CommitResult.deadline) == .committed else {
        complain(
          "\(configuration.store.path) cannot be written: the change may or may not have been saved; make room on the disk, "
            + "and run the command again")
        throw ExitStatus.ioError
      }
      try next()
      return result
    }
  }

  /// Opens the store under its lock, which no gate has then; as whom a gate would serve.
  package static func locked<Result>(
    _ configuration: GateConfiguration, _ body: (KeyStore) throws -> Result
  ) throws -> Result {
    try becomeServingUser(configuration)
    let store: KeyStore
    do {
      let options = KeyStore.Options(
        maximumKeys: configuration.store.maximumKeys, witness: configuration.store.pseudonymKeyPath)
      store = try KeyStore.open(path: configuration.store.path, options: options) { event in report(event) }
    } catch {
      guard case .locked(_, let owner) = error else { throw failure(error, configuration) }
      complain(inUse(configuration, by: owner))
      throw status(error)
    }
    defer { store.close() }
    return try body(store)
  }

  /// Who has the store. A gate is asked first: one that answers has to be stopped, one elsewhere has other settings.
  private static func inUse(_ configuration: GateConfiguration, by owner: StoreOwner?) -> String {
    let socket = configuration.controlSocketPath
    if case .health(let health)? = try? ControlClient.ask(
      .health, at: socket, within: ControlClient.briefPatience)
    {
      return "the gate is running (process \(health.process)): stop it first (systemctl stop portcullis)"
    }
    let process = owner?.description ?? "another process"
    return
      "\(process) owns \(configuration.store.path), and no gate answers at \(socket): stop it first, or run this command "
      + "with the gate's --config"
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
      throw ExitStatus.osError
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
  package static func status(_ error: KeyStoreError) -> ExitStatus {
    switch error {
    case .locked, .neverStill: .temporaryFailure
    case .damagedSnapshot, .damagedJournal, .unsupportedJournal: .dataError
    case .directoryMissing, .notAFile, .notReplaceable, .symbolicLink, .danglingLink, .gone: .configuration
    case .failed: .ioError
    }
  }
}
