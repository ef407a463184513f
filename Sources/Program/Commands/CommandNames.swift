/// Names of commands as people type them: other words for one, and what to say where there is none (docs/running.md,
/// "Commands").
package import ArgumentParser
import Bytes
import Configuration

package struct CommandNames {
  /// Words that others use for a command. They do the same wherever there is such a command and none of the word itself.
  private static let synonyms = ["remove": "revoke"]
  /// What the library adds by itself.
  private static let own = "help"

  private let root: CommandName
  private let former: [FormerName]

  /// - Parameters:
  ///   - elsewhere: commands below `root` whose own ones another program has.
  ///   - former: names that `root` does not have any more, and that lead to others.
  package init(
    _ root: any ParsableCommand.Type, elsewhere: [CommandName] = [], former: [FormerName] = []
  ) {
    self.former = former
    let name = CommandName(root)
    let below = name.below.map { own in elsewhere.first { $0.name == own.name } ?? own }
    self.root = CommandName(name.name, below)
  }

  /// How far the words of a command line lead down the tree.
  private struct Descent {
    var command: CommandName
    var names: [String]
    /// The word that is the name of no command there; nil where the line ends before, or goes on with an option.
    var stranger: String?
    /// Of the word that comes behind the last name, in the command line.
    var next = 0

    init(_ words: [String], below root: CommandName, replacing: inout [String]) {
      command = root
      names = [root.name]
      for word in words {
        let below = command.below
        if below.isEmpty || word.hasPrefix("-") || word == own && names.count == 1 { return }
        guard let found = CommandNames.find(word, in: below) else {
          stranger = word
          return
        }
        replacing[next] = found.name
        next += 1
        command = found
        names.append(found.name)
      }
    }
  }

  /// The command line by today's names, and the former one that was in it.
  package func renamed(_ words: [String]) -> (words: [String], former: FormerName?) {
    for name in former {
      if let words = name.replaced(words) { return (words, name) }
    }
    return (words, nil)
  }

  /// The command line with the program's own names in it.
  package func resolved(_ words: [String]) -> [String] {
    var resolved = words
    _ = Descent(words, below: root, replacing: &resolved)
    return resolved
  }

  /// What is wrong with a name in the command line, and which one may be meant; nil where all of them are there.
  package func advice(_ words: [String]) -> String? {
    var resolved = words
    let descent = Descent(words, below: root, replacing: &resolved)
    guard let stranger = descent.stranger else { return nil }
    let below = descent.command.below
    let path = descent.names.joined(separator: " ")
    let lack = descent.names.count == 1 ? "there is no command" : "\(path) has no command"
    let shown = PrintableText.field(stranger, limit: 64)
    let rest = Array(words[(descent.next + 1)...])
    let meant =
      Self.nearest(stranger, in: below).map { [Self.continued([path, $0.name], $0, rest)] }
      ?? Self.deeper(stranger, path, below)
    guard !meant.isEmpty else {
      // It may be an argument of the command that stands for none.
      if descent.command.standsForOne { return nil }
      return "\(lack) \(shown): \(path) --help lists those that there are"
    }
    let names =
      meant.count == 1 ? meant[0] : meant.dropLast().joined(separator: ", ") + " or " + meant[meant.count - 1]
    return "\(lack) \(shown): did you mean \(names)?"
  }

  // MARK: Finding

  private static func find(
    _ word: String, in commands: [CommandName]
  ) -> CommandName? {
    let found = commands.first { $0.name == word || $0.aliases.contains(word) }
    guard found == nil, let synonym = synonyms[word] else { return found }
    return commands.first { $0.name == synonym }
  }

  /// Within two letters, one in a short word; else the only one that begins so.
  private static func nearest(
    _ word: String, in commands: [CommandName]
  ) -> CommandName? {
    let limit = word.utf8.count < 4 ? 1 : 2
    var nearest: (command: CommandName, distance: Int)?
    for command in commands where !command.isHidden {
      let others = synonyms.filter { $0.value == command.name }.map(\.key)
      for name in [command.name] + command.aliases + others {
        let distance = NameCheck.distance(Array(word.lowercased().utf8), Array(name.utf8), atMost: limit)
        if let distance, distance < nearest?.distance ?? 3 { nearest = (command, distance) }
      }
    }
    if let nearest { return nearest.command }
    let longer = commands.filter { !$0.isHidden && word.utf8.count >= 3 && $0.name.hasPrefix(word) }
    return longer.count == 1 ? longer[0] : nil
  }

  /// Commands further down that have this very name.
  private static func deeper(_ word: String, _ path: String, _ commands: [CommandName])
    -> [String]
  {
    commands.flatMap { command in
      let below = command.below
      let path = "\(path) \(command.name)"
      return (find(word, in: below).map { ["\(path) \($0.name)"] } ?? []) + deeper(word, path, below)
    }
  }

  /// The path with further words of the line that are names there.
  private static func continued(
    _ path: [String], _ command: CommandName, _ words: [String]
  ) -> String {
    let below = command.below
    guard let word = words.first, !below.isEmpty, let next = find(word, in: below) ?? nearest(word, in: below)
    else {
      return path.joined(separator: " ")
    }
    return continued(path + [next.name], next, Array(words.dropFirst()))
  }
}
