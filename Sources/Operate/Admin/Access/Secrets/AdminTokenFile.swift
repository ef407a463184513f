/// `ADMIN_TOKENS_PATH`: read as a whole and replaced as a whole, for its owner alone.
internal import Glibc
package import System

package struct AdminTokenFile: Sendable {
  package let path: String

  package init(path: String) {
    self.path = path
  }

  package enum Problem: Error, Equatable, Sendable, CustomStringConvertible {
    case unreadable(SystemError)
    case malformed(AdminTokenFileError)

    package var description: String {
      switch self {
      case .unreadable(let error): "cannot be read: \(error); correct the path or the file's owner and mode"
      case .malformed(let error):
        "\(error); restore it from a backup, or remove it, which ends all tokens"
      }
    }
  }

  /// Empty where there is no file.
  package func read() throws(Problem) -> AdminTokens {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try WholeFile.read(path, limit: 1 << 20)
    } catch {
      if error.number == ENOENT { return AdminTokens() }
      throw .unreadable(error)
    }
    do throws(AdminTokenFileError) {
      return try AdminTokens(parsing: bytes.span)
    } catch {
      throw .malformed(error)
    }
  }

  /// Durable when this returns.
  package func write(_ tokens: AdminTokens) throws(SystemError) {
    try WholeFile.write(tokens.text, to: path, mode: 0o600, overwriting: true)
  }
}
