/// The names by which the style sheet knows what it dresses.

enum StyleClass: String, CaseIterable, Sendable {
  // The frame.
  case skip
  case bar
  case mark
  case gate
  case who
  case find
  case menu
  case count
  case onlyRead = "only-read"
  case crumb
  case lede
  case head
  case foot
  case live
  case alone

  // What it says.
  case notice
  case verdict
  case badge
  case good
  case doubtful
  case bad
  case neutral
  case quiet
  case note
  case large
  case countdown
  case waits
  case number
  case minor
  case standing
  case whole
  case empty
  case words
  case command

  // Parts.
  case panel
  case panels
  case facts
  case figures
  case pages

  // Drawings.
  case charts
  case chart
  case chartTitle = "chart-title"
  case plot
  case scale
  case grid
  case area
  case before
  case start
  case base
  case icon
  case scan
  case hours
  case legend
  case one
  case two
  case three
  case rest
  case strip
  case up
  case shaky
  case down
  case cursor

  // Forms.
  case filter
  case field
  case hint
  case problem
  case problems
  case actions
  case button
  case danger
  case outline
  case apart
  case blank
  case plain
  case digits
  case pairing

  static func of(_ standing: Standing) -> StyleClass {
    switch standing {
    case .good: .good
    case .doubtful: .doubtful
    case .bad: .bad
    case .neutral: .neutral
    }
  }
}
