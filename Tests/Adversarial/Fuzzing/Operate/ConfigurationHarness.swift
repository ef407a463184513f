/// The file of `--config` (docs/settings.md): every problem names its variable or its line, and what loads can be
/// written down and loads again.
internal import Bytes
internal import Charsets
@testable internal import Configuration

enum ConfigurationHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    try checkLines(bytes)
    switch load(bytes, .server) {
    case .success(let loaded):
      try checkReport(loaded)
      return .accepted
    case .failure(let failure):
      try checkProblems(failure)
      // A command on the store may still do with the values alone.
      if case .failure(let values) = load(bytes, .values) { try checkProblems(values) }
      return .refused
    }
  }

  private static func load(
    _ bytes: [UInt8], _ scope: ConfigurationLoader.Scope
  ) -> Result<LoadedConfiguration, ConfigurationFailure> {
    do throws(ConfigurationFailure) {
      return .success(
        try ConfigurationLoader.load(
          environment: [], file: .init(path: fileName, contents: bytes), files: AnyFiles(), processors: 2,
          descriptorLimit: 65_536, scope: scope))
    } catch {
      return .failure(error)
    }
  }

  private static let fileName = "gate.env"

  /// The kind of a file is in its name.
  private struct AnyFiles: ConfigurationFiles {
    func kind(of path: String) -> FileKind? {
      if path.hasSuffix("missing") || path.hasSuffix(".sock") { return nil }
      return path.hasSuffix(".pem") || path.hasSuffix(".json") ? .file : .directory
    }
    func isReadable(_ path: String) -> Bool { !path.hasSuffix("secret.pem") }
    func isWritable(_ path: String) -> Bool { !path.hasSuffix("fixed") }
    func isOthersToWrite(_ path: String) -> Bool { path.hasSuffix("shared.json") }
    func isKept(_ path: String, for user: String?) -> Bool { !path.hasSuffix("shared.json") }
    func has(_ charset: Charset) -> Bool { charset != .eucKR }
  }

  // MARK: Properties

  /// In double quotes, entries are the same.
  private static func checkLines(_ bytes: [UInt8]) throws(BrokenProperty) {
    let lines = EnvironmentFile(parsing: bytes.span)
    try require(lines.errors.count <= EnvironmentFile.mostErrors, "\(lines.errors.count) errors")
    var text: [UInt8] = []
    for entry in lines.entries {
      text += entry.name.utf8
      text += "=\"".utf8
      for byte in entry.value.utf8 {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"): text += [UInt8(ascii: "\\"), byte]
        case 0x0A: text += "\\n".utf8
        case 0x09: text += "\\t".utf8
        default: text.append(byte)
        }
      }
      text += "\"\n".utf8
    }
    let again = EnvironmentFile(parsing: text.span)
    try require(again.errors.isEmpty, "rewritten, it has errors")
    try require(again.entries.count == lines.entries.count, "rewritten, it has other entries")
    for (left, right) in zip(again.entries, lines.entries) {
      try require(
        left.name == right.name && left.value.utf8.elementsEqual(right.value.utf8), "\(left.name) differs")
    }
  }

  private static func checkProblems(_ failure: ConfigurationFailure) throws(BrokenProperty) {
    try require(!failure.problems.isEmpty, "a failure without a problem")
    for problem in failure.problems {
      try require(
        problem.name != nil || problem.place?.hasPrefix(fileName) == true, "nobody knows what: \(problem)")
      try require(!problem.reason.isEmpty && !problem.remedy.isEmpty, "no reason or no remedy")
      try requireOneLine(problem.description)
    }
    for warning in failure.warnings { try requireOneLine(warning.description) }
  }

  /// What `portcullis config` prints loads as the same configuration.
  private static func checkReport(_ loaded: LoadedConfiguration) throws(BrokenProperty) {
    for warning in loaded.warnings { try requireOneLine(warning.description) }
    let report = Array(ConfigurationReport.text(loaded).utf8)
    guard !loaded.settings.contains(where: \.isHidden) else { return }
    guard case .success(let again) = load(report, .server) else {
      throw BrokenProperty("its own report does not load")
    }
    for (left, right) in zip(again.settings, loaded.settings) {
      try require(left.value == right.value, "\(left.name) is another in the report")
    }
  }

  private static func requireOneLine(_ text: String) throws(BrokenProperty) {
    try require(
      text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) },
      "a control character: \(PrintableText.field(text))")
    try require(text.utf8.count < 8192, "a message of \(text.utf8.count) bytes")
  }
}
