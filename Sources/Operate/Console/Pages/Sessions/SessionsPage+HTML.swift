/// `/sessions` and what is below it, as HTML and as JSON.
internal import JSON
internal import Prompt
internal import System

extension SessionsPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    // A search by text asks the registry for the names of all who play: not every two seconds.
    let isLive = end.isFirst && filter.text.isEmpty
    let layout = Layout(
      entry: .sessions, heading: "Sessions", liveFrom: isLive ? address(ConsolePath("/api/sessions")) : nil)
    return layout.html(frame) { html in
      let isWhole = filter == Filter(text: "") && end.isFirst
      html.blank([table], isWhole: isWhole) { html in
        html.element(
          .p,
          text:
            "Nobody plays now. A player who connects with your app appears here at once. This command tests the way there:"
        )
        html.element(.code, .class(.command), text: "portcullis doctor https://gate.example.com")
      }
      html.shown(with: table, isWhole: isWhole) { html in list(&html) }
    }
  }

  private func list(_ html: inout HTML) {
    html.filter(.sessions, isActive: filter != Filter(text: "")) { html in
      html.field(
        .text, "Who or from where", value: filter.text, hint: "Part of a key, pseudonym, name or address")
      html.choice(
        .state, "State", any: "Any",
        options: SessionRow.State.allCases.map { ($0.rawValue, $0.rawValue) },
        chosen: filter.state?.rawValue)
      html.choice(
        .credential, "Came in by", any: "Anything",
        options: SessionRow.Credential.allCases.map { ($0.rawValue, $0.words) },
        chosen: filter.credential?.rawValue)
    }
    html.table(table)
    html.pages(end, address(.sessions))
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(table)
    return answer
  }

  private func address(_ path: ConsolePath) -> ConsolePath {
    path.asking("text", optional: filter.text).asking("state", optional: filter.state?.rawValue)
      .asking("credential", optional: filter.credential?.rawValue)
  }

  private var table: Table {
    let count = end.total.map { Wording.count($0, "session", "sessions") }
    return Table(
      name: "sessions", caption: "\(count ?? "Sessions"), the longest first",
      columns: SessionRow.columns(mayEnd: mayEnd), rows: rows.map { $0.cells(mayEnd: mayEnd) },
      empty: filter == Filter(text: "") ? "Nobody plays." : "No session is like that.")
  }
}

// MARK: Rows

extension SessionRow {
  /// On the page of something that has sessions.
  static func table(_ sessions: [SessionRow], of owner: String, mayEnd: Bool = false) -> Table {
    Table(
      name: "sessions", caption: "Sessions of this \(owner)", hidesCaption: true,
      columns: columns(mayEnd: mayEnd), rows: sessions.map { $0.cells(mayEnd: mayEnd) },
      empty: "This \(owner) has no session now.")
  }

  /// - Parameter mayEnd: whether a row leads to the question that ends it.
  static func columns(mayEnd: Bool) -> [Table.Column] {
    [
      .init("session", "Who"), .init("state", "State", isMark: true), .init("source", "From", isWhole: true),
      .init("since", "Since"), .init("pseudonym", "Pseudonym", isMinor: true),
      .init("subprotocol", "Subprotocol", isMinor: true),
      .init("from-player", "From player", isNumber: true, isMinor: true),
      .init("from-game", "From game", isNumber: true, isMinor: true),
    ] + (mayEnd ? [.init("end", "Action")] : [])
  }

  func cells(mayEnd: Bool) -> [Cell] {
    [
      .link(name, .session(number)), standing, .text(Wording.address(source)), .time(beganAt),
      .optional(code: pseudonym), .optional(subprotocol), .bytes(bytesFromPlayer), .bytes(bytesFromGame),
    ] + (mayEnd ? [.link(.text("End…"), ConsolePath.session(number).appending("end"))] : [])
  }

  /// The name that a person knows it by best; else the number, which commands take.
  private var name: Cell {
    if let name = deviceName ?? subject { return .text(name) }
    if let id = keyID ?? deviceID { return .code(Wording.shortKey(id)) }
    return .text("Session \(number)")
  }

  /// The name that a person knows it by first.
  var who: Cell {
    var lines: [Cell] = []
    if let deviceName {
      lines.append(deviceID.map { .link(.text(deviceName), .device($0)) } ?? .text(deviceName))
    }
    if let subject { lines.append(.text(subject)) }
    if let keyID { lines.append(.link(.code(Wording.shortKey(keyID)), .key(keyID))) }
    return lines.isEmpty ? .text("Not known") : .lines(lines)
  }

  var standing: Cell {
    switch state {
    case .attached: .standing(.good, state.rawValue)
    case .detached: .standing(.neutral, state.rawValue)
    }
  }
}

extension SessionRow.Credential {
  var words: String {
    switch self {
    case .assertion: "App Attest assertion"
    case .certificate: "client certificate"
    case .device: "device key"
    case .none: "nothing"
    }
  }
}

// MARK: One

extension SessionPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let path = ConsolePath.session(session.number)
    let layout = Layout(
      entry: .sessions, heading: "Session \(session.number)", above: ("Sessions", .sessions),
      liveFrom: ConsolePath("/api/sessions").appending(session.number))
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) { $0.facts(facts) }
      if frame.mayChange {
        html.element(.p) {
          $0.element(.a, .class(.button, .danger), .href(path.appending("end")), text: "End this session…")
        }
      }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(facts)
    return answer
  }

  private var facts: [Fact] {
    [
      Fact("State", session.standing, live: "state"),
      Fact("In this state since", .time(session.stateSince), live: "state-since"),
      Fact("Began", .time(session.beganAt)),
      Fact("From", .text(session.source), live: "source"),
      Fact("Came in by", .text(session.credential.words)),
      Fact("Key", session.keyID.map { .link(.code($0), .key($0)) } ?? .none),
      Fact("Pseudonym", .optional(code: session.pseudonym)),
      Fact(
        "Device",
        session.deviceID.map { .link(.text(session.deviceName ?? $0), .device($0)) }
          ?? .optional(session.deviceName)),
      Fact("Certificate's subject", .optional(session.subject)),
      Fact("Connection", .optional(code: session.connection), live: "connection"),
      Fact("Subprotocol", session.subprotocol.map { .text($0) } ?? .text("none")),
      Fact("From the player", .bytes(session.bytesFromPlayer), live: "from-player"),
      Fact("From the game", .bytes(session.bytesFromGame), live: "from-game"),
      Fact("Waits for the player", .bytes(UInt64(max(session.bufferedBytes, 0))), live: "waiting"),
      Fact("Outlives a restart", .text(session.isKept ? "yes" : "no"), live: "kept"),
    ]
  }
}

extension EndSessionPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let path = ConsolePath.session(session.number)
    let layout = Layout(
      entry: .sessions, heading: "End session \(session.number)?",
      lede:
        "The player is disconnected from the game, and cannot come back to this session. Who has not been "
        + "locked out may begin a new one.",
      above: ("Session \(session.number)", path), problems: problems)
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) { html in
        html.facts([
          Fact("Who", session.who), Fact("From", .text(session.source)),
          Fact("Began", .time(session.beganAt)),
        ])
      }
      html.change(
        path.appending("end"), frame, button: "End the session", isDanger: true,
        back: ("Leave it as it is", path))
    }
  }

  func live() -> LiveAnswer { LiveAnswer() }
}
