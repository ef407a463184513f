/// Pairing a phone, as HTML and as JSON: code, countdown and digits stand on one page, so that it needs no script.
internal import Prompt
internal import QRCode

extension PairPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .devices, heading: "Pair a phone",
      lede:
        "The next page shows a code for the phone’s camera. It is good for one phone and for five minutes.",
      above: ("Devices", .devices), problems: problems)
    return layout.html(frame) { html in
      guard frame.mayChange else {
        return html.element(
          .p, text: "You may look and not change anything: an operator who may pairs the phone.")
      }
      html.change(.pair, frame, button: "Show the code", back: ("Back to the devices", .devices)) { html in
        html.field(
          .subject, "Subject", value: subject,
          hint: "Whose phone it is, as your services name the person; may be empty", problems: problems)
        html.field(
          .name, "Name", value: name, hint: "What the phone is to be called; may be empty", problems: problems
        )
      }
    }
  }

  func live() -> LiveAnswer { LiveAnswer() }
}

extension PairingPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .devices, heading: "Pair a phone", above: ("Devices", .devices), problems: problems,
      liveFrom: isOpen ? ConsolePath("/api/devices/pair").appending(id) : nil)
    return layout.html(frame) { html in
      html.element(.div, .class(.pairing)) { html in
        if let uri { code(uri, &html) }
        html.element(.div) { html in
          html.element(
            .p, .class(.notice, .of(standing)), .text(.dataStanding, "phone"), .fixed(.role, "status")
          ) { $0.element(.strong, .text(.dataLive, "phone"), text: sentence) }
          html.element(.div, .class(.panel)) { $0.facts(facts) }
          if isOpen, frame.mayChange { digits(frame, &html) } else { wayOn(&html) }
        }
      }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add("phone", .text(sentence))
    answer.add("phone", standing)
    answer.add(facts)
    return answer
  }

  var isOpen: Bool {
    switch stage {
    case .open, .answered, .revealed: true
    case .active, .over: false
    }
  }

  private var path: ConsolePath { ConsolePath.pair.appending(id) }

  // MARK: The code

  private func code(_ uri: String, _ html: inout HTML) {
    html.element(.figure, .class(.panel)) { html in
      if let code = QRCode(uri) {
        html.code(CodeDrawing(code: code), says: "QR code for the camera of the phone")
      }
      html.element(.details) { html in
        html.element(.summary, text: "The code as text")
        html.element(.code, text: uri)
      }
    }
  }

  // MARK: The digits

  private func digits(_ frame: PageFrame, _ html: inout HTML) {
    html.change(path, frame, button: "Pair the phone") { html in
      html.field(
        .digits, "Six digits", value: "", hint: "Of the phone in front of you, once it has scanned the code",
        problems: problems, longest: 11, isDigits: true)
    }
    html.element(
      .p, .class(.hint),
      text:
        "A photograph of the code is enough to answer in the phone’s place. Digits that differ are somebody between you: "
        + "give the pairing up then.")
    html.element(.form, .fixed(.method, "post"), .action(path.appending("end")), .fixed(.autocomplete, "off"))
    {
      html in
      html.token(of: frame)
      html.element(.button, .class(.plain), .fixed(.type, "submit"), text: "Give the pairing up")
    }
  }

  private func wayOn(_ html: inout HTML) {
    html.element(.p, .class(.actions)) { html in
      if stage == .active, let deviceID {
        html.element(.a, .class(.button), .href(.device(deviceID)), text: "Look at the phone")
      }
      if stage == .over { html.element(.a, .class(.button), .href(.pair), text: "Pair a phone…") }
      html.element(.a, .href(.devices), text: "Back to the devices")
    }
  }

  // MARK: How it stands

  private var standing: Standing {
    switch stage {
    case .open, .answered: .neutral
    case .revealed: .doubtful
    case .active: .good
    case .over: .bad
    }
  }

  private var sentence: String {
    let name = deviceName.map { Wording.cut($0, to: 80) } ?? "A phone"
    return switch stage {
    case .open: "Scan the code with the app on the phone"
    case .answered: "\(name) has scanned the code"
    case .revealed: "\(name) shows six digits: type them here"
    case .active: "\(name) is paired"
    case .over: "The pairing is over: given up, refused, or too late"
    }
  }

  private var facts: [Fact] {
    [
      Fact("Time left", isOpen ? .ends(expiresAt) : .none, live: "ends"),
      Fact("Subject", .optional(subject)),
      Fact("Phone", .optional(deviceName), live: "name"),
      Fact(
        "Its keys",
        level.map { .text([Wording.plain($0), platform].compactMap(\.self).joined(separator: ", ")) }
          ?? .none,
        live: "level"),
      Fact("Tries left", isOpen ? .number(triesLeft) : .none, live: "tries"),
    ]
  }
}
