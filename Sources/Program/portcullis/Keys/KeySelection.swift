/// How the operator names a key: its identifier, or enough of the beginning.
import ArgumentParser
import Bytes
import KeyStore
import Prompt

enum KeySelection: ExpressibleByArgument {
  case whole(KeyIdentifier)
  /// At least `shortest` characters, in the alphabet of RFC 4648 §4.
  case beginning(String)

  static let help: ArgumentHelp =
    "A key id in base64 or base64url, or at least 8 characters of its beginning."
  private static let shortest = 8

  init?(argument: String) {
    if let identifier = KeyIdentifier(base64: argument) {
      self = .whole(identifier)
      return
    }
    let standard = argument.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }
    let isBase64 = argument.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || "+/-_".utf8.contains(byte)
    }
    guard isBase64, (Self.shortest..<44).contains(argument.utf8.count) else { return nil }
    self = .beginning(String(standard))
  }

  /// The one key that is meant; none or several end the command with status 65.
  func identifier(in contents: @autoclosure () throws -> KeyStoreReader.Contents) throws -> KeyIdentifier {
    switch self {
    case .whole(let identifier): return identifier
    case .beginning(let text):
      var found: [KeyIdentifier] = []
      try contents().forEach { identifier, _ in
        if identifier.base64.hasPrefix(text) { found.append(identifier) }
      }
      if found.count == 1 { return found[0] }
      complain(
        found.isEmpty
          ? "no key id begins with \(text)"
          : "\(found.count) key ids begin with \(text): write more of it")
      throw ExitStatus.dataError
    }
  }

  static func unknown(_ identifier: KeyIdentifier) -> ExitStatus {
    complain("no key \(identifier.base64) is registered")
    return ExitStatus.dataError
  }
}
