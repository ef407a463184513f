/// What is shown instead of a page: what is the matter, and what to do.
internal import JSON
internal import Prompt

extension ErrorPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    Layout(entry: nil, heading: isPerhapsDone ? "This may have been done" : kind.title).html(frame) { html in
      says(&html)
      html.element(.p) { $0.element(.a, .href(.overview), text: "Back to the overview") }
    }
  }

  /// For who is not signed in.
  func html(gate: String, version: String) -> [UInt8] {
    Alone(title: kind.title, gate: gate, version: version).html { html in
      html.element(.h1, text: kind.title)
      says(&html)
    }
  }

  func live() -> LiveAnswer { LiveAnswer() }

  func json(_ waiting: Waiting) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("error")
    writer.beginObject()
    writer.name("status")
    writer.value(kind.rawValue)
    writer.member("message", detail ?? text)
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  private func says(_ html: inout HTML) {
    html.element(.p, text: Wording.cut(detail ?? text, to: 1000))
    if detail != nil { html.element(.p, .class(.note), text: text) }
  }

  private var text: String {
    isPerhapsDone
      ? "The change was begun, and may have been made all the same: look at how it is now before you repeat it."
      : kind.text
  }
}

extension ErrorPage.Kind {
  fileprivate var title: String {
    switch self {
    case .badRequest: "This request cannot be read"
    case .forbidden: "This is not yours to do"
    case .notFound: "There is no such page"
    case .conflict: "It is not as it was"
    case .misdirected: "The gate does not have this name"
    case .unavailable: "The gate is busy"
    }
  }

  fileprivate var text: String {
    switch self {
    case .badRequest:
      "Something in the address or in the form is not as the console writes it. Nothing was changed."
    case .forbidden:
      "The user you are signed in as may not do this, or the form is from an earlier sign-in. Nothing was changed: "
        + "load the page again and repeat it."
    case .notFound: "The address may be mistyped, or what it named has ended, or has been thrown away."
    case .conflict: "Somebody else, or time, was quicker. Nothing was changed: look at how it is now."
    case .misdirected:
      "Ask for the gate by its address, as localhost, by a name in its certificate, or by one in ADMIN_HOSTS."
    case .unavailable:
      "Another search or export is going on, or a part of the gate does not answer. Try again in a few seconds."
    }
  }
}
