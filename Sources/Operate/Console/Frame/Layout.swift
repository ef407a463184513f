/// What stands around each page: head, bar, menu, notices, and the line at the foot.
internal import Prompt
internal import System

/// The entries of the menu.
enum MenuEntry: String, CaseIterable, Sendable {
  case overview
  case sessions
  case keys
  case devices
  case approvals
  case refusals
  case audit
  case configuration
  case drain

  var title: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
  var path: ConsolePath { ConsolePath(self) }

  /// There is nothing to be seen in a gate without devices.
  var needsDevices: Bool {
    switch self {
    case .devices, .approvals, .audit: true
    case .overview, .sessions, .keys, .refusals, .configuration, .drain: false
    }
  }
}

/// One page within the frame.
struct Layout {
  let entry: MenuEntry?
  /// The one heading of the first rank.
  let heading: String
  /// A sentence below the heading.
  var lede: String?
  /// What the page is about stands in a list: the way back to it.
  var above: (title: String, path: ConsolePath)?
  /// Of the form in it.
  var problems: [FieldProblem] = []
  /// Where the script gets what changes; nil for a page that does not change by itself.
  var liveFrom: ConsolePath?

  func html(_ frame: PageFrame, content: (inout HTML) -> Void) -> [UInt8] {
    var html = HTML()
    html.documentType()
    html.element(.html, .fixed(.language, "en")) { html in
      head(frame, &html)
      html.element(.body) { html in
        html.element(.a, .class(.skip), .href(to: Self.main), text: "Skip to content")
        bar(frame, &html)
        menu(frame, &html)
        main(frame, &html, content)
        foot(frame, &html)
      }
    }
    return html.bytes
  }

  private static let main = Anchor("main")

  // MARK: Head

  private func head(_ frame: PageFrame, _ html: inout HTML) {
    html.documentHead(
      title: "\(problems.isEmpty ? "" : "Error: ")\(heading) · \(frame.gate) · Portcullis",
      hasScript: true)
  }

  private func bar(_ frame: PageFrame, _ html: inout HTML) {
    html.element(.header, .class(.bar)) { html in
      html.element(.div, .class(.mark)) { html in
        html.icon()
        html.text("Portcullis")
      }
      html.element(.div, .class(.gate), text: Wording.cut(frame.gate, to: 80))
      find(frame, &html)
      html.element(.form, .class(.who), .fixed(.method, "post"), .action(.signOut)) { html in
        html.element(.span, text: Wording.cut(frame.actor, to: 64))
        html.token(of: frame)
        html.element(.button, .class(.plain), .fixed(.type, "submit"), text: "Sign out")
      }
    }
  }

  /// One field for all that has a name.
  private func find(_ frame: PageFrame, _ html: inout HTML) {
    html.element(
      .form, .class(.find), .fixed(.role, "search"), .fixed(.method, "get"), .action(.search),
      .text(.ariaLabel, "Everything")
    ) { html in
      let field = FormField.find
      html.element(
        .label, .class(.onlyRead), .references(.for, field.anchor),
        text: "Find a player, key, phone or address")
      html.element(
        .input, .fixed(.type, "text"), .id(field.anchor), .text(.name, field.rawValue),
        .text(.value, Wording.cut(frame.search, to: 128)), .number(.maximumLength, 128),
        .text(.placeholder, "Player, key, phone, address"), .fixed(.autocomplete, "off"),
        .fixed(.spellcheck, "false"))
      html.element(.button, .class(.plain), .fixed(.type, "submit"), text: "Find")
    }
  }

  private func menu(_ frame: PageFrame, _ html: inout HTML) {
    html.element(.nav, .class(.menu), .text(.ariaLabel, "Console")) { html in
      html.element(.ul) { html in
        for entry in MenuEntry.allCases where frame.hasDevices || !entry.needsDevices {
          html.element(.li) { html in
            html.element(
              .a, .href(entry.path), entry == self.entry ? .fixed(.ariaCurrent, "page") : nil,
              text: entry.title)
            if let (name, number) = frame.waiting.count(of: entry) {
              html.text(" ")
              html.element(
                .span, .class(.count), .text(.dataLive, "\(name)"),
                .text(.title, "How many wait for an operator"), text: Self.count(number))
            }
          }
        }
      }
    }
  }

  /// Nothing for none.
  static func count(_ number: Int) -> String { number == 0 ? "" : Wording.count(number) }

  // MARK: Content

  private func main(_ frame: PageFrame, _ html: inout HTML, _ content: (inout HTML) -> Void) {
    html.element(
      .main, .id(Self.main), .fixed(.tabIndex, "-1"), liveFrom.map { .liveFrom($0) }
    ) { html in
      if let above {
        html.element(.nav, .class(.crumb), .text(.ariaLabel, "Way back")) { html in
          html.element(.a, .href(above.path), text: above.title)
        }
      }
      html.element(.div, .class(.head)) { html in
        html.element(.h1, text: heading)
        if liveFrom != nil { live(&html) }
      }
      if let lede { html.element(.p, .class(.lede), text: lede) }
      notices(frame, &html)
      html.problems(problems)
      content(&html)
    }
  }

  /// The script shows it, for it is the script that has something to say.
  private func live(_ html: inout HTML) {
    html.element(.div, .class(.live), .fixed(.hidden), .fixed(.dataState)) { html in
      html.element(.span, .fixed(.role, "status"), text: "")
      html.element(.button, .class(.plain), .fixed(.type, "button"), .fixed(.dataPause), text: "Pause")
    }
  }

  private func notices(_ frame: PageFrame, _ html: inout HTML) {
    if let done = frame.done {
      html.element(.p, .class(.notice, .good), .fixed(.role, "status"), text: done.sentence)
    }
    if frame.isDraining, entry != .drain {
      html.element(.p, .class(.notice, .doubtful)) { html in
        html.text("The gate is draining: it takes no new players. ")
        html.element(.a, .href(.drain), text: "Look at the drain")
      }
    }
  }

  private func foot(_ frame: PageFrame, _ html: inout HTML) {
    html.element(.footer, .class(.foot)) { html in
      html.text("Portcullis \(frame.version) · made ")
      html.cell(.time(frame.now))
      if !frame.mayChange { html.text(" · you may look and not change anything") }
    }
  }
}

extension DoneWord {
  var sentence: String {
    switch self {
    case .signedIn: "You are signed in."
    case .sessionEnded: "The session has been ended."
    case .keyRevoked: "The key has been revoked, and its sessions have ended."
    case .pairingOpened: "The code is good for five minutes."
    case .pairingEnded: "The pairing is over: its code lets nobody in."
    case .deviceConfirmed: "The device is confirmed."
    case .deviceRevoked: "The device has been revoked, and its sessions have ended."
    case .approvalConfirmed: "Your confirmation has been given."
    case .approvalRefused: "The request has been refused."
    case .reloaded: "Settings and certificates have been read again."
    case .drainBegun: "The gate is draining: it takes no new players."
    case .drainEnded: "The gate takes new players again."
    case .allSessionsEnded: "All sessions have been ended. Nobody comes in until the gate is started again."
    }
  }
}

extension HTML {
  mutating func documentHead(title: String, hasScript: Bool) {
    element(.head) { html in
      html.element(.meta, .fixed(.charset, "utf-8"))
      html.element(.title, text: title)
      html.element(
        .meta, .fixed(.name, "viewport"), .text(.content, "width=device-width, initial-scale=1"))
      html.element(.meta, .fixed(.name, "color-scheme"), .text(.content, "light dark"))
      html.element(
        .link, .fixed(.relation, "icon"), .fixed(.type, "image/svg+xml"), .href(ConsoleAsset.icon.path))
      html.element(.link, .fixed(.relation, "stylesheet"), .href(ConsoleAsset.style.path))
      if hasScript {
        html.element(.script, .fixed(.type, "module"), .source(ConsoleAsset.script.path), content: { _ in })
      }
    }
  }

  /// The mark beside the name, as in `/icon.svg`.
  mutating func icon() {
    element(
      .svg, .class(.icon), .fixed(.viewBox, "0 0 16 16"), .fixed(.ariaHidden, "true"),
      .fixed(.focusable, "false")
    ) { html in
      var bars = Outline()
      for x in [4, 8, 12] {
        bars.move(to: x, 2)
        bars.line(to: x, 14)
      }
      for y in [5, 9] {
        bars.move(to: 2, y)
        bars.line(to: 14, y)
      }
      html.element(.path, .drawing(bars))
    }
  }
}
