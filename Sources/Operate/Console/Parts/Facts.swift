/// Names with what stands behind them.

struct Fact: Sendable {
  /// Under which the script finds it again; nil for what does not change.
  let name: StaticString?
  let label: String
  let value: Cell

  init(_ label: String, _ value: Cell, live name: StaticString? = nil) {
    self.name = name
    self.label = label
    self.value = value
  }
}

extension HTML {
  /// What is not known is left out, unless it may come to be known while somebody looks.
  mutating func facts(_ facts: [Fact]) {
    element(.dl, .class(.facts)) { html in
      for fact in facts where !fact.value.isEmpty || fact.name != nil {
        html.element(.div) { html in
          html.element(.dt, text: fact.label)
          html.element(.dd, fact.name.map { .text(.dataLive, "\($0)") }) { $0.cell(fact.value) }
        }
      }
    }
  }

  /// Large numbers side by side.
  mutating func figures(_ figures: [(Fact, note: Fact?)]) {
    element(.dl, .class(.figures)) { html in
      for (figure, note) in figures {
        html.element(.div) { html in
          html.element(.dt, text: figure.label)
          html.element(.dd, .class(.large), figure.name.map { .text(.dataLive, "\($0)") }) {
            $0.cell(figure.value)
          }
          if let note {
            html.element(.dd, .class(.note)) { html in
              html.element(.span, note.name.map { .text(.dataLive, "\($0)") }) { $0.cell(note.value) }
              html.text(" \(note.label)")
            }
          }
        }
      }
    }
  }
}
