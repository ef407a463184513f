/// What a command was called before: it still does the same, and says what to use (docs/running.md, "Former names").
package struct FormerName: Sendable {
  package let name: String
  package let now: String
  /// What is said to be used.
  package let shown: String

  /// - Parameters:
  ///   - name: its words behind the program's name, such as `keys stats`.
  ///   - now: what stands in their place.
  ///   - shown: what a person writes, where that is less.
  package init(_ name: String, now: String, shown: String? = nil) {
    self.name = name
    self.now = now
    self.shown = shown ?? now
  }

  /// The command line by today's name; nil where this one is not meant.
  func replaced(_ words: [String]) -> [String]? {
    let isHelp = words.first == "help"
    let asked = isHelp ? words.dropFirst() : words[...]
    let old = name.split(separator: " ").map(String.init)
    guard asked.starts(with: old) else { return nil }
    let new = now.split(separator: " ").map(String.init)
    let names = Array(new.prefix { !$0.hasPrefix("-") })
    // The parser's own `help` knows names of commands alone, and an option takes `--help` for its value.
    if isHelp { return ["help"] + names }
    let rest = Array(asked.dropFirst(old.count))
    return rest.contains("--help") || rest.contains("-h") ? names + ["--help"] : new + rest
  }
}
