/// Forms: GET for what is looked for, POST with the token for what is changed, and what was wrong with either.
internal import Prompt

extension HTML {
  // MARK: What was wrong

  /// Above the form, with a way to each field (GOV.UK Design System, "Error summary").
  mutating func problems(_ problems: [FieldProblem]) {
    if problems.isEmpty { return }
    let heading = Anchor("problems")
    element(
      .div, .class(.problems), .fixed(.role, "alert"), .references(.labelledBy, heading),
      .fixed(.tabIndex, "-1")
    ) { html in
      html.element(.h2, .id(heading), text: "This did not work")
      html.element(.ul) { html in
        for problem in problems {
          html.element(.li) { html in
            if let field = FormField(rawValue: problem.field) {
              html.element(.a, .href(to: field.anchor), text: Wording.cut(problem.text, to: 512))
            } else {
              html.text(Wording.cut(problem.text, to: 512))
            }
          }
        }
      }
    }
  }

  // MARK: Changes

  /// What every form that changes something carries.
  mutating func token(of frame: PageFrame) {
    element(.input, .fixed(.type, "hidden"), .fixed(.name, "token"), .text(.value, frame.formToken))
  }

  /// - Parameter back: what the operator does instead.
  mutating func change(
    _ path: ConsolePath, _ frame: PageFrame, button: String, isDanger: Bool = false, style: StyleClass? = nil,
    back: (title: String, path: ConsolePath)? = nil, fields: (inout HTML) -> Void = { _ in }
  ) {
    element(.form, .fixed(.method, "post"), .action(path), .fixed(.autocomplete, "off")) { html in
      html.token(of: frame)
      fields(&html)
      html.element(.div, .class(.actions)) { html in
        html.element(
          .button, .class(.button, isDanger ? .danger : style), .fixed(.type, "submit"), text: button)
        if let back { html.element(.a, .href(back.path), text: back.title) }
      }
    }
  }

  // MARK: Fields

  /// A line of text with its label, its hint, and what was wrong with it.
  mutating func field(
    _ field: FormField, _ label: String, value: String, hint: String? = nil,
    problems: [FieldProblem] = [], longest: Int = 128, isDigits: Bool = false
  ) {
    let problem = problems.first { $0.field == field.rawValue }
    element(.div, .class(.field, problem == nil ? nil : .problem)) { html in
      html.element(.label, .references(.for, field.anchor), text: label)
      if let hint { html.element(.div, .class(.hint), .id(field.hintAnchor), text: hint) }
      if let problem {
        html.element(.p, .id(field.problemAnchor), text: Wording.cut(problem.text, to: 512))
      }
      html.element(
        .input, .fixed(.type, "text"), .id(field.anchor), .text(.name, field.rawValue),
        .text(.value, Wording.cut(value, to: longest)), .number(.maximumLength, longest),
        .class(isDigits ? .digits : nil), isDigits ? .fixed(.inputMode, "numeric") : nil,
        .fixed(.autocomplete, "off"), .fixed(.spellcheck, "false"),
        problem == nil ? nil : .fixed(.ariaInvalid, "true"),
        .references(
          .describedBy, hint == nil ? nil : field.hintAnchor, problem == nil ? nil : field.problemAnchor))
    }
  }

  /// One of a few; the empty value stands for any.
  mutating func choice(
    _ field: FormField, _ label: String, any: String, options: [(value: String, title: String)],
    chosen: String?
  ) {
    element(.div, .class(.field)) { html in
      html.element(.label, .references(.for, field.anchor), text: label)
      html.element(.select, .id(field.anchor), .text(.name, field.rawValue)) { html in
        html.element(.option, .text(.value, ""), text: any)
        for option in options {
          html.element(
            .option, .text(.value, option.value),
            option.value == chosen ? .fixed(.selected, "selected") : nil, text: option.title)
        }
      }
    }
  }

  /// What a list is filtered by.
  mutating func filter(_ path: ConsolePath, isActive: Bool, fields: (inout HTML) -> Void) {
    element(.form, .class(.filter), .fixed(.role, "search"), .fixed(.method, "get"), .action(path)) { html in
      fields(&html)
      html.element(.div, .class(.actions)) { html in
        html.element(.button, .class(.button), .fixed(.type, "submit"), text: "Filter")
        if isActive { html.element(.a, .href(path), text: "Clear") }
      }
    }
  }

  // MARK: Lists

  /// The ways on and back of a list of several pages.
  mutating func pages(_ end: ListEnd, _ path: ConsolePath) {
    if end.isFirst, end.next == nil { return }
    element(.nav, .class(.pages), .text(.ariaLabel, "Pages")) { html in
      if !end.isFirst { html.element(.a, .href(path), text: "First page") }
      if let next = end.next { html.element(.a, .href(path.asking("after", next)), text: "Next page") }
    }
  }
}

/// The fields that forms have, as they are sent.
enum FormField: String, CaseIterable, Sendable {
  case find
  case text
  case state
  case credential
  case app
  case since
  case until
  case subject
  case code
  case step
  case event
  case about
  case day
  case name
  case reason
  case digits

  var anchor: Anchor { Anchor(field: self, "field") }
  var hintAnchor: Anchor { Anchor(field: self, "hint") }
  var problemAnchor: Anchor { Anchor(field: self, "problem") }
}

extension Anchor {
  fileprivate init(field: FormField, _ kind: StaticString) {
    self.init(words: "\(kind)-\(field.rawValue)")
  }
}
