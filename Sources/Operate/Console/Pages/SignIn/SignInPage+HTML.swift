/// The pages of who is not signed in: they stand alone, without menu and script.
internal import Prompt

extension SignInPage {
  func html() -> [UInt8] {
    Alone(title: title, gate: gate, version: version).html { html in
      html.element(.h1, text: title)
      switch state {
      case .howTo: howTo(&html)
      case .button(let path, let name): button(path, name, &html)
      case .linkEnded:
        html.element(
          .p,
          text:
            "A link is good for one minute and for one sign-in. This one is used, too old, or was mistyped.")
        howTo(&html)
      case .signedOut:
        html.element(.p, text: "Close this window, or sign in again.")
        howTo(&html)
      }
    }
  }

  private var title: String {
    switch state {
    case .howTo, .button: "Sign in"
    case .linkEnded: "This link does not work"
    case .signedOut: "You are signed out"
    }
  }

  private func howTo(_ html: inout HTML) {
    html.element(.p, text: "On the gate's host, as a user who is named in ADMIN_OPERATORS:")
    html.element(.p) { $0.element(.code, .class(.command), text: "portcullis admin link") }
    html.element(.p, text: "Open the address that it prints within a minute.")
  }

  private func button(_ path: String, _ name: String, _ html: inout HTML) {
    html.element(.p) { html in
      html.text("You are about to sign in to ")
      html.element(.strong, text: Wording.cut(gate, to: 80))
      html.text(" as ")
      html.element(.strong, text: Wording.cut(name, to: 64))
      html.text(".")
    }
    let code = path.split(separator: "/").last ?? ""
    html.element(.form, .fixed(.method, "post"), .action(.signIn.appending(code))) { html in
      html.element(.div, .class(.actions)) { html in
        html.element(.button, .class(.button), .fixed(.type, "submit"), text: "Sign in")
      }
    }
    html.element(
      .p, .class(.hint),
      text: "You stay signed in for 12 hours, or until you have done nothing for 30 minutes.")
  }
}

/// A page without a frame: nobody is signed in, or there is nothing to frame.
struct Alone {
  let title: String
  let gate: String
  let version: String

  func html(content: (inout HTML) -> Void) -> [UInt8] {
    var html = HTML()
    html.documentType()
    html.element(.html, .fixed(.language, "en")) { html in
      html.documentHead(title: "\(title) · \(gate) · Portcullis", hasScript: false)
      html.element(.body) { html in
        html.element(.main, .class(.alone)) { html in
          html.element(.div, .class(.mark)) { html in
            html.icon()
            html.text("Portcullis")
            html.element(.span, .class(.gate), text: Wording.cut(gate, to: 80))
          }
          html.element(.div, .class(.panel), content: content)
          html.element(.p, .class(.note), text: "Portcullis \(version)")
        }
      }
    }
    return html.bytes
  }
}
