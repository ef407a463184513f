/// Why a store cannot be opened or read, each with a way out.
package import System

package enum KeyStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Another process owns the store (exit status 75).
  case locked(path: String, owner: Int32?)
  case directoryMissing(String)
  case notAFile(String)
  /// The file cannot be replaced by a rename: it is a mount of its own.
  case notReplaceable(String)
  case damagedSnapshot(file: String, offset: Int64, reason: String)
  case damagedJournal(file: String, offset: Int64, reason: String)
  case unsupportedJournal(file: String, version: String)
  /// The files changed under every attempt to read them.
  case neverStill(String)
  case failed(path: String, SystemError)

  package var description: String {
    switch self {
    case .locked(let path, let owner):
      let process = owner.map { "process \($0)" } ?? "another process"
      return "\(path) belongs to \(process): stop it first, or ask it through its control socket"
    case .directoryMissing(let path):
      return "the directory \(path) does not exist: create it, owned by the user the gate runs as, mode 0700"
    case .notAFile(let path):
      return
        "\(path) is not a file: ATTESTED_KEYS_PATH names a file in a directory that the gate may write to"
    case .notReplaceable(let path):
      return "\(path) is a mount of its own and cannot be replaced: mount its directory instead of the file"
    case .damagedSnapshot(let file, let offset, let reason):
      return
        "\(file) is damaged at byte \(offset): \(reason); restore the file from a copy, or correct that place "
        + "by hand, or move the file away to start with what the journal beside it holds"
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
      return "\(path): \(error)"
    }
  }
}

/// Says of which file a failed call was.
func naming<Value>(
  _ path: String, _ body: () throws(SystemError) -> Value
) throws(KeyStoreError) -> Value {
  do {
    return try body()
  } catch {
    throw .failed(path: path, error)
  }
}
