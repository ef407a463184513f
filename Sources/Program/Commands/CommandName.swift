/// A command as far as names go: its own, and those of the commands below it.
import ArgumentParser

package struct CommandName {
  package let name: String
  let aliases: [String]
  /// It is there for those who know it, and no help names it.
  let isHidden: Bool
  /// It has a command that is meant where none is named, whose arguments may look like names.
  let standsForOne: Bool
  private let source: Source

  private enum Source {
    case parser(any ParsableCommand.Type)
    case names([CommandName])
  }

  /// As a command line's parser knows it; what is below it is asked for when it is needed.
  init(_ command: any ParsableCommand.Type) {
    name = command._commandName
    aliases = command.configuration.aliases
    isHidden = !command.configuration.shouldDisplay
    standsForOne = command.configuration.defaultSubcommand != nil
    source = .parser(command)
  }

  /// As another program has it.
  init(_ name: String, standsForOne: Bool = false, _ below: [CommandName] = []) {
    self.name = name
    aliases = []
    isHidden = false
    self.standsForOne = standsForOne
    source = .names(below)
  }

  var below: [CommandName] {
    switch source {
    case .parser(let command): command.configuration.subcommands.map { CommandName($0) }
    case .names(let names): names
    }
  }
}
