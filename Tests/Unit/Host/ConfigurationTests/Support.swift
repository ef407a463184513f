import Charsets

@testable import Configuration

/// A file system of the test's own: what is not named does not exist.
struct ImaginaryFiles: ConfigurationFiles {
  var kinds: [String: FileKind] = [:]
  var unreadable: Set<String> = []
  var unwritable: Set<String> = []
  var othersToWrite: Set<String> = []
  var others: Set<String> = []
  var missingCharsets: Set<Charset> = []

  func kind(of path: String) -> FileKind? { kinds[path] }
  func isReadable(_ path: String) -> Bool { !unreadable.contains(path) }
  func isWritable(_ path: String) -> Bool { !unwritable.contains(path) }
  func isOthersToWrite(_ path: String) -> Bool { othersToWrite.contains(path) }
  func isKept(_ path: String, for user: String?) -> Bool { !others.contains(path) }
  func has(_ charset: Charset) -> Bool { !missingCharsets.contains(charset) }

  /// All that the tests name.
  static let complete = ImaginaryFiles(kinds: [
    "config": .directory, ".": .directory, "/": .directory, "/receipts": .directory, "cert.pem": .file,
    "key.pem": .file, "ca.pem": .file, "root.pem": .file, "policy.json": .file, "/dev": .directory,
    "/dev/null": .other,
  ])
}

/// The smallest environment that starts, outside production.
let smallest = [("APPATTEST_APP_IDS", "ABCDE12345.com.example.mud"), ("PORTCULLIS_ENV", "test")]

/// The smallest environment that starts in production.
let production = [
  ("APPATTEST_APP_IDS", "ABCDE12345.com.example.mud"), ("PORTCULLIS_ENV", "production"),
  ("TLS_CERT_PATH", "cert.pem"), ("TLS_KEY_PATH", "key.pem"),
]

func load(
  _ environment: [(String, String)] = smallest, adding: [(String, String)] = [], file: String? = nil,
  files: ImaginaryFiles = .complete, processors: Int = 4, descriptors: Int = 65_536,
  scope: ConfigurationLoader.Scope = .server
) throws(ConfigurationFailure) -> LoadedConfiguration {
  let file = file.map { ConfigurationLoader.File(path: "gate.env", contents: Array($0.utf8)) }
  let added = Set(adding.map(\.0))
  return try ConfigurationLoader.load(
    environment: environment.filter { !added.contains($0.0) } + adding, file: file, files: files,
    processors: processors, descriptorLimit: descriptors, scope: scope)
}

/// The problems, or none when it loads.
func problems(
  _ environment: [(String, String)] = smallest, adding: [(String, String)] = [], file: String? = nil,
  files: ImaginaryFiles = .complete, scope: ConfigurationLoader.Scope = .server
) -> [ConfigurationProblem] {
  do {
    _ = try load(environment, adding: adding, file: file, files: files, scope: scope)
    return []
  } catch {
    return error.problems
  }
}

extension GateConfiguration {
  /// What holds, wherever it is from.
  var withoutOrigin: GateConfiguration {
    var copy = self
    copy.origin = Origin()
    return copy
  }
}
