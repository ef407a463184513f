/// The Android apps that are known, by package and by the certificates that sign them, and the text that lists them.
package import Bytes

package struct AndroidApp: Hashable, Sendable {
  /// As the manifest names it.
  package let package: String
  /// SHA-256 of each certificate that may have signed it.
  package let digests: Set<Bytes32>

  /// Nil for what is no package, and without digests: an app that anybody may sign is nobody's.
  package init?(package: String, digests: Set<Bytes32>) {
    guard Self.isPackage(package), !digests.isEmpty else { return nil }
    self.package = package
    self.digests = digests
  }

  /// Of a recorded case, which says what is known, whatever it is: names are compared as bytes, and without digests nobody's
  /// signature is good. The gate never does.
  package init(verbatimPackage package: String, digests: Set<Bytes32>) {
    self.package = package
    self.digests = digests
  }

  /// Two or more parts between full stops, each a letter and then letters, digits or `_`, together at most 223 bytes
  /// (Android, "Configure the app module"; the package manager's own limit on a name that becomes a file).
  package static func isPackage(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return text.utf8.count <= longestPackage && parts.count >= 2
      && parts.allSatisfy { part in
        part.first.map(isLetter) == true && part.allSatisfy { isLetter($0) || isDigit($0) || $0 == 0x5F }
      }
  }

  package static let longestPackage = 223

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

// MARK: Text

extension AndroidApp {
  /// What is wrong with an item of the list.
  package enum ParseError: Error, Equatable, Sendable {
    /// There is no colon between package and digest.
    case noDigest(item: String)
    case package(String)
    /// Not 64 hexadecimal digits.
    case digest(String)
    /// Each byte apart, as `keytool` and the Play Console show it.
    case digestWithColons(String)
    case duplicate(item: String)
  }

  /// From `package:digest` items between commas, blanks around each allowed; a package that is there again has another
  /// digest as well. Digests are hexadecimal in either case. Apps come in the order of their first items.
  package static func list(parsing text: String) throws(ParseError) -> [AndroidApp] {
    var packages: [String] = []
    var digests: [String: Set<Bytes32>] = [:]
    for item in text.split(separator: ",", omittingEmptySubsequences: false) {
      let item = String(item.trimmingPrefix { $0 == " " }.reversed().trimmingPrefix { $0 == " " }.reversed())
      let (package, digest) = try pair(item)
      if digests[package] == nil { packages.append(package) }
      guard digests[package, default: []].insert(digest).inserted else { throw .duplicate(item: item) }
    }
    return packages.compactMap { AndroidApp(package: $0, digests: digests[$0] ?? []) }
  }

  private static func pair(_ item: String) throws(ParseError) -> (String, Bytes32) {
    guard let colon = item.firstIndex(of: ":") else { throw .noDigest(item: item) }
    let package = String(item[..<colon])
    guard isPackage(package) else { throw .package(package) }
    let text = String(item[item.index(after: colon)...])
    guard !text.utf8.contains(UInt8(ascii: ":")) else { throw .digestWithColons(text) }
    guard let digest = Bytes32(hex: text.lowercased()) else { throw .digest(text) }
    return (package, digest)
  }
}

extension AndroidApp.ParseError: CustomStringConvertible {
  /// As a setting's problem goes on: "ANDROID_APPS has …".
  package var description: String {
    switch self {
    case .noDigest(let item): "has \"\(item)\", which is not package:sha256"
    case .package(let text): "has \"\(text)\", which is no package such as com.example.app"
    case .digest(let text): "has \"\(text)\", which is no SHA-256 in 64 hexadecimal digits"
    case .digestWithColons(let text): "has \"\(text)\", whose digits must follow each other without colons"
    case .duplicate(let item): "has \"\(item)\" twice"
    }
  }
}
