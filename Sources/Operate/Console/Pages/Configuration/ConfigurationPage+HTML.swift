/// `/configuration`, as HTML and as JSON.
internal import Prompt
internal import System

extension ConfigurationPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    Layout(entry: .configuration, heading: "Configuration", problems: problems).html(frame) { html in
      html.section("Reload") { reload(frame, &$0) }
      html.section("What portcullis check says") { check(&$0) }
      html.section("Settings") { $0.table(settingsTable) }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(settingsTable)
    answer.add(findingsTable)
    return answer
  }

  // MARK: Reload

  private func reload(_ frame: PageFrame, _ html: inout HTML) {
    if let lastReload { result(lastReload, &html) }
    html.element(.div, .class(.panel)) { html in
      html.facts([
        Fact("File", file.map { .code($0) } ?? .text("none: the environment alone")),
        Fact("Read", .time(readAt)),
        Fact("Last reload", .optional(lastReloadAt)),
      ])
    }
    if frame.mayChange {
      html.element(
        .p, .class(.hint),
        text:
          "Settings, certificates and policies are read again. If anything is wrong in them, everything stays as "
          + "it is. No session ends.")
      html.change(ConsolePath.configuration.appending("reload"), frame, button: "Reload")
    }
  }

  private func result(_ reload: Reload, _ html: inout HTML) {
    let said: (standing: Standing, text: String, items: [String])
    switch reload {
    case .taken(let changed):
      said =
        changed.isEmpty
        ? (.good, "The last reload was taken. No setting had changed; certificates were read again.", [])
        : (.good, "The last reload was taken. Changed:", changed)
    case .needsRestart(let changed, let waiting):
      let first = changed.isEmpty ? "" : " Changed at once: \(changed.joined(separator: ", "))."
      said = (.doubtful, "The last reload was taken.\(first) These hold from the next start on:", waiting)
    case .late:
      said = (
        .doubtful,
        "The last reload was taken, but an event loop does not turn, and goes on as before until it does.", []
      )
    case .refused(let problems):
      said = (.bad, "The last reload was refused, and everything is as it was before:", problems)
    }
    html.element(.div, .class(.notice, .of(said.standing)), .fixed(.role, "status")) { html in
      html.element(.p, text: Wording.cut(said.text, to: 1000))
      if !said.items.isEmpty {
        html.element(.ul) { html in
          for item in said.items.prefix(50) { html.element(.li, text: Wording.cut(item, to: 500)) }
        }
      }
    }
  }

  // MARK: Check

  private func check(_ html: inout HTML) {
    guard findings != nil else {
      html.element(.p, text: "It has not been looked at yet: load the page again in a few seconds.")
      return
    }
    html.table(findingsTable)
    if let checkedAt {
      html.element(.p, .class(.note)) { html in
        html.text("Looked at ")
        html.cell(.time(checkedAt))
      }
    }
  }

  private var findingsTable: Table {
    let order: [Standing] = [.bad, .doubtful, .neutral, .good]
    let sorted = order.flatMap { standing in (findings ?? []).filter { $0.standing == standing } }
    return Table(
      name: "findings", caption: "Findings, the gravest first", hidesCaption: true,
      columns: [
        .init("subject", "What", isWhole: true), .init("state", "State", isMark: true),
        .init("text", "Found"),
      ],
      rows: sorted.map { finding in
        let word =
          switch finding.standing {
          case .good, .neutral: "ok"
          case .doubtful: "warning"
          case .bad: "problem"
          }
        return [.text(finding.subject), .standing(finding.standing, word), .sentence(finding.text)]
      }, empty: "Nothing was looked at.")
  }

  // MARK: Settings

  private var settingsTable: Table {
    Table(
      name: "settings",
      caption: "\(Wording.count(settings.count, "setting", "settings")); what is set stands first",
      columns: [
        .init("name", "Setting"), .init("origin", "Set by", isMark: true), .init("value", "Value"),
        .init("reload", "A reload takes it", isMinor: true),
      ],
      rows: (settings.filter { $0.origin != .standard } + settings.filter { $0.origin == .standard })
        .map { [.code($0.name), $0.from, $0.shown, .text($0.isReloadable ? "yes" : "no")] },
      empty: "There are no settings.")
  }
}

extension ConfigurationPage.Setting {
  fileprivate var shown: Cell {
    let value: Cell =
      if isHidden { .text("set, and not shown") } else {
        self.value.map { $0.isEmpty ? .text("empty") : .code($0) } ?? .text("not set")
      }
    return .lines([value, .optional(sentence: note)])
  }

  fileprivate var from: Cell {
    switch origin {
    case .standard: .text("default")
    case .file: .text(line.map { "file, line \($0)" } ?? "file")
    case .environment: .text("environment")
    }
  }
}
