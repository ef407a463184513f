/// Why a store cannot be opened or read, each with a way out.
internal import Bytes
package import System

package enum KeyStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Another process owns the store (exit status 75).
  case locked(path: String, owner: StoreOwner?)
  case directoryMissing(String)
  case notAFile(String)
  /// The file cannot be replaced by a rename: it is a mount of its own.
  case notReplaceable(String)
  /// The snapshot is not there, although another file shows that there was one.
  case gone(String, evidence: String)
  /// A link in the place of a file that only the store itself makes.
  case symbolicLink(String)
  /// The key file's own path is a link to nothing.
  case danglingLink(String)
  case damagedSnapshot(file: String, offset: Int64, reason: String)
  case damagedJournal(file: String, offset: Int64, reason: String)
  case unsupportedJournal(file: String, version: String)
  /// The files changed under every attempt to read them.
  case neverStill(String)
  case failed(path: String, SystemError)

  package var description: String {
    switch self {
    case .locked(let path, let owner):
      let process = owner?.description ?? "another process"
      return "\(path) belongs to \(process): stop it first, or run this command with the gate's "
        + "--config; a second gate needs an ATTESTED_KEYS_PATH of its own"
    case .directoryMissing(let path):
      return "the directory \(path) does not exist: create it, owned by the user the gate runs as, mode 0700"
    case .notAFile(let path):
      return
        "\(path) is not a file: ATTESTED_KEYS_PATH names a file in a directory that the gate may write to"
    case .notReplaceable(let path):
      return "\(path) is a mount of its own and cannot be replaced: mount its directory instead of the file"
    case .gone(let path, let evidence):
      return
        "\(path) does not exist, although \(evidence) shows that there was a store: restore it from a backup; without one, "
        + "begin anew with an empty file, which forgets every key and every revocation: "
        + EmptyFile.command(path, shown: PrintableText.field(path))
    case .symbolicLink(let path):
      return
        "\(path) is a symbolic link, which is not followed: find out who put it there, and remove it; only "
        + "ATTESTED_KEYS_PATH itself may be a link"
    case .danglingLink(let path):
      return
        "\(path) is a symbolic link to a file that does not exist: mount or create what it leads to (an empty "
        + "file is an empty store), or remove the link"
    case .damagedSnapshot(let file, let offset, let reason):
      return
        "\(file) is damaged at byte \(offset): \(reason); restore the file from a copy, or correct that place "
        + "by hand, or move the file away and put an empty one in its place, to start with what the journal beside it "
        + "holds: \(EmptyFile.command(file, shown: PrintableText.field(file)))"
    case .damagedJournal(let file, let offset, let reason):
      return
        "\(file) is damaged at byte \(offset): \(reason); restore it from a copy, or move it away to go on "
        + "without it: keys registered since the last snapshot must then register again"
    case .unsupportedJournal(let file, let version):
      return "\(file) has format version \(version), this program reads version \(JournalHeader.version): "
        + "start the version that wrote it and stop it cleanly, which empties the journal"
    case .neverStill(let path):
      return "\(path) is being replaced faster than it can be read: try again"
    case .failed(let path, let error):
      return "\(path): \(error)" + (DiskSpace.remedy(for: error, at: path).map { "; \($0)" } ?? "")
    }
  }
}

extension KeyStoreError {
  /// A call that failed on this file.
  init(path: String, _ error: SystemError) {
    self = error.number == Self.meetsLink ? .symbolicLink(path) : .failed(path: path, error)
  }

  /// ELOOP: what `O_NOFOLLOW` says of a link.
  private static let meetsLink: Int32 = 40
}

/// Says of which file a failed call was.
func naming<Value>(
  _ path: String, _ body: () throws(SystemError) -> Value
) throws(KeyStoreError) -> Value {
  do {
    return try body()
  } catch {
    throw KeyStoreError(path: path, error)
  }
}
