/// Colour at a terminal: where it is wanted, and what stands around a coloured text (docs/running.md, "At a terminal").
import Configuration
import System

package struct Paint: Equatable, Sendable {
  /// Of the sixteen that each terminal has, by what they say.
  package enum Colour: Int, CaseIterable, Sendable {
    case bold = 1
    case dim = 2
    case bad = 31
    case good = 32
    case doubtful = 33
  }

  package static let none = Paint(isOn: false)

  package let isOn: Bool

  package init(isOn: Bool) { self.isOn = isOn }

  /// For standard output, as the environment has it.
  package static var standardOutput: Paint {
    var environment: [String: String] = [:]
    for (name, value) in ProcessContext.environment() where ["NO_COLOR", "TERM"].contains(name) {
      environment[name] = value
    }
    return Paint(isOn: isWanted(onTerminal: Output.isTerminal, environment))
  }

  /// By https://no-color.org: `NO_COLOR` counts unless it is empty.
  package static func isWanted(onTerminal: Bool, _ environment: [String: String]) -> Bool {
    let term = environment["TERM"] ?? ""
    return onTerminal && environment["NO_COLOR", default: ""].isEmpty && !term.isEmpty && term != "dumb"
  }

  package func callAsFunction(_ text: String, _ colour: Colour?) -> String {
    guard isOn, let colour, !text.isEmpty else { return text }
    return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
  }
}
