/// `/keys` and what is below it, as HTML and as JSON.
internal import Prompt
internal import System

extension KeysPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    // A search may go through all keys: not every two seconds.
    let layout = Layout(
      entry: .keys, heading: "Keys", problems: problems,
      liveFrom: end.isFirst && !isFiltered ? ConsolePath("/api/keys") : nil)
    return layout.html(frame) { html in
      let isWhole = !isFiltered && end.isFirst && end.next == nil
      html.blank([table], isWhole: isWhole) { html in
        html.element(
          .p,
          text:
            "No app has registered a key yet. Yours does so by itself at its first start; keys of another gate come by:"
        )
        html.element(
          .code, .class(.command), text: "portcullis keys import --from goldfinch FILE --until 2027-01-31")
      }
      html.shown(with: table, isWhole: isWhole) { html in list(&html) }
    }
  }

  private func list(_ html: inout HTML) {
    html.filter(.keys, isActive: isFiltered) { html in
      html.field(
        .text, "Key or pseudonym", value: filter.text, hint: "The beginning is enough", problems: problems)
      html.choice(
        .app, "App", any: "Any", options: apps.map { ($0, Wording.cut($0, to: 80)) },
        chosen: filter.app.isEmpty ? nil : filter.app)
      html.choice(
        .state, "State", any: "Any", options: KeyRow.State.allCases.map { ($0.rawValue, $0.rawValue) },
        chosen: filter.state?.rawValue)
      html.field(
        .since, "Last used from", value: filter.since, hint: "A day, as 2026-11-23", problems: problems,
        longest: 10)
      html.field(
        .until, "Last used until", value: filter.until, hint: "A day, as 2026-11-23", problems: problems,
        longest: 10)
    }
    html.table(table)
    html.pages(end, address)
    html.element(.p) { html in
      html.element(.a, .href(ConsolePath.keys.appending("export")), text: "Export all keys (JSON lines)")
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(table)
    return answer
  }

  private var isFiltered: Bool { address != .keys }

  private var address: ConsolePath {
    ConsolePath.keys.asking("text", optional: filter.text).asking("app", optional: filter.app)
      .asking("state", optional: filter.state?.rawValue).asking("since", optional: filter.since)
      .asking("until", optional: filter.until)
  }

  private var table: Table {
    Table(
      name: "keys", caption: end.total.map { Wording.count($0, "key", "keys") } ?? "Keys",
      columns: KeyRow.columns, rows: rows.map(\.cells),
      empty: end.inPlaceOfRows(isFiltered ? "No key is like that." : "No key is registered."))
  }
}

extension KeyRow {
  static let columns: [Table.Column] = [
    .init("key", "Key"), .init("state", "State", isMark: true), .init("app", "App", isMinor: true),
    .init("used", "Last used"), .init("registered", "Registered", isMinor: true),
    .init("counter", "Counter", isNumber: true, isMinor: true),
  ]

  var cells: [Cell] {
    [
      .lines([.link(.code(Wording.shortKey(id)), .key(id)), .optional(code: pseudonym)]),
      standing, .lines([.optional(appID), .text(environment)]), .optional(lastUsedAt), .time(registeredAt),
      .number(signCount),
    ]
  }

  var standing: Cell {
    switch state {
    case .active: .standing(.good, state.rawValue)
    case .revoked: .standing(.bad, state.rawValue)
    case .imported: .standing(.doubtful, state.rawValue)
    case .expired: .standing(.neutral, state.rawValue)
    }
  }
}

// MARK: One

extension KeyPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .keys, heading: "Key \(Wording.shortKey(key.id))", above: ("Keys", .keys))
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) { $0.facts(facts) }
      if frame.mayChange, key.state != .revoked {
        html.element(.p) {
          $0.element(
            .a, .class(.button, .danger), .href(ConsolePath.key(key.id).appending("revoke")),
            text: "Revoke this key…")
        }
      }
      html.section("Last refusals") { $0.table(RefusalRow.lastTable(refusals, of: "key")) }
      html.section("Sessions") { $0.table(SessionRow.table(sessions, of: "key", mayEnd: frame.mayChange)) }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(facts)
    answer.add(SessionRow.table(sessions, of: "key"))
    answer.add(RefusalRow.lastTable(refusals, of: "key"))
    return answer
  }

  private var facts: [Fact] {
    [
      Fact("Key", .code(key.id)),
      Fact("State", key.standing, live: "state"),
      Fact("Revoked", .optional(key.revokedAt)),
      Fact("Why", .optional(sentence: key.revokedReason)),
      Fact("Pseudonym", .optional(code: key.pseudonym)),
      Fact("Device", deviceID.map { .link(.text(deviceName ?? $0), .device($0)) } ?? .none),
      Fact("App", .optional(key.appID)),
      Fact("Environment", .text(key.environment)),
      Fact("App's version", .optional(key.bundleVersion)),
      Fact("Validation category", key.validationCategory.map { .number($0) } ?? .none),
      Fact("Registered", .time(key.registeredAt)),
      Fact("Last used", .optional(key.lastUsedAt), live: "used"),
      Fact("Counter", .number(key.signCount), live: "counter"),
      Fact("Imported from", .optional(key.importedFrom)),
      Fact("Good until", .optional(key.goodUntil)),
    ]
  }
}

extension RevokeKeyPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let path = ConsolePath.key(key.id)
    let layout = Layout(
      entry: .keys, heading: "Revoke key \(Wording.shortKey(key.id))?",
      lede:
        "The app on this phone is refused from now on, for good. A player who deletes the app and installs it again "
        + "comes with another key.",
      above: ("Key \(Wording.shortKey(key.id))", path), problems: problems)
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) { html in
        html.facts([
          Fact("Key", .code(key.id)), Fact("Pseudonym", .optional(code: key.pseudonym)),
          Fact("Last used", .optional(key.lastUsedAt)),
          Fact("Sessions that end", .number(sessions)),
        ])
      }
      html.change(
        path.appending("revoke"), frame, button: "Revoke the key", isDanger: true,
        back: ("Leave it as it is", path)
      ) { html in
        html.field(
          .reason, "Why", value: reason,
          hint: "For who looks at this key later, up to 256 characters. The player does not see it.",
          problems: problems, longest: Self.longestReason)
      }
    }
  }

  func live() -> LiveAnswer { LiveAnswer() }
}
