/// What a family of series is: its name, its kind and what it counts (Prometheus, "Metric types").

package struct MetricFamily: Equatable, Sendable {
  package enum Kind: String, Sendable {
    /// Only rises, and begins anew with the process.
    case counter
    case gauge
    case histogram
  }

  package let name: String
  package let kind: Kind
  /// One sentence.
  package let help: String

  package init(_ name: String, _ kind: Kind, _ help: String) {
    self.name = name
    self.kind = kind
    self.help = help
  }
}

/// A label's value is of a fixed set: a word of the program's and never a peer's.
package struct MetricLabel: Equatable, Sendable {
  package let name: StaticString
  package let value: String

  package init(_ name: StaticString, _ value: String) {
    self.name = name
    self.value = value
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.name.description == right.name.description && left.value == right.value
  }
}
