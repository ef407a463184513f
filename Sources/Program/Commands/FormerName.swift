/// What a command was called before: it still does the same, and says what to use (docs/running.md, "Former names").
package struct FormerName: Sendable {
  package let name: String
  package let now: String

  /// - Parameters:
  ///   - name: its words behind the program's name, such as `keys stats`.
  ///   - now: what stands in their place.
  package init(_ name: String, now: String) {
    self.name = name
    self.now = now
  }

  /// The command line by today's name; nil where this one is not meant.
  func replaced(_ words: [String]) -> [String]? {
    let isHelp = words.first == "help"
    let asked = isHelp ? words.dropFirst() : words[...]
    let old = name.split(separator: " ").map(String.init)
    guard asked.starts(with: old) else { return nil }
    let new = now.split(separator: " ").map(String.init)
    let names = new.filter { !$0.hasPrefix("-") }
    // The parser's own `help` knows names of commands alone, and an option takes `--help` for its value.
    if isHelp { return ["help"] + names }
    let rest = Array(asked.dropFirst(old.count))
    return rest.contains("--help") || rest.contains("-h") ? names + ["--help"] : new + rest
  }
}
