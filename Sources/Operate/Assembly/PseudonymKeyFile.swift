/// The file of the key that pseudonyms are made with: read, made once, and missed (docs/key-store.md,
/// "The pseudonym key").
import Bytes
package import Configuration
import Crypto
import Glibc
package import Identity
package import Prompt
package import System
package import Time

package struct PseudonymKeyFile {
  package let path: String

  package init(path: String) {
    self.path = path
  }

  /// Nil only of what is left of a configuration with problems.
  package init?(_ files: GateFiles) {
    guard let path = files.pseudonymKeyPath else { return nil }
    self.path = path
  }

  package enum Problem: Error, CustomStringConvertible {
    case unreadable(String, SystemError)
    case wrongLength(String)
    case danglingLink(String)
    /// The key store notes that one was made at that time.
    case lost(String, since: UnixTime)
    case cannotBeMade(String, SystemError)

    package var description: String {
      let subject = "DEVICE_PSEUDONYM_KEY_PATH=\(PrintableText.field(path))"
      switch self {
      case .unreadable(_, let error):
        return "\(subject) cannot be read: \(error); correct the path or the file's owner and mode"
      case .wrongLength:
        return "\(subject) is no key, which has \(PseudonymKey.byteCount) bytes: restore it from a backup"
      case .danglingLink:
        return "\(subject) is a symbolic link to a file that does not exist: correct or remove the link"
      case .lost(_, let since):
        return
          "\(subject) does not exist, but the key store had such a key since \(since.timestamp): restore it from "
          + "a backup; without one, make a new key, which voids the game's bans by pseudonym: "
          + "(umask 077; head -c \(PseudonymKey.byteCount) /dev/urandom > \(PrintableText.field(path)))"
      case .cannotBeMade(_, let error):
        return "\(subject) cannot be made: \(error); make room, or name a folder that the gate may write to"
      }
    }

    package var status: ExitStatus {
      if case .cannotBeMade = self { return .cannotCreate }
      return .configuration
    }

    private var path: String {
      switch self {
      case .unreadable(let path, _), .wrongLength(let path), .danglingLink(let path), .lost(let path, _),
        .cannotBeMade(let path, _):
        path
      }
    }
  }

  /// Nil when there is no such file.
  package func read() throws(Problem) -> PseudonymKey? {
    let text: PrivateKeyText
    do {
      text = try PrivateKeyText.read(path, limit: PseudonymKey.byteCount)
    } catch {
      switch error.number {
      case ENOENT: return nil
      case EFBIG: throw .wrongLength(path)
      default: throw .unreadable(path, error)
      }
    }
    guard let key = PseudonymKey(text) else { throw .wrongLength(path) }
    return key
  }

  /// A new one, durable when this returns. Where another gate has just made one in the same place, that.
  package func make(_ entropy: some Entropy) throws(Problem) -> PseudonymKey {
    var bytes = entropy.bytes(PseudonymKey.byteCount)
    defer { wipe(&bytes) }
    do {
      try WholeFile.write(bytes, to: path, mode: 0o600, overwriting: false)
    } catch {
      guard error.number == EEXIST else { throw .cannotBeMade(path, error) }
    }
    guard let key = try read() else { throw .danglingLink(path) }
    return key
  }
}
