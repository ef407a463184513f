/// What a path is, as far as it matters who may go there. Compared as sent: what is written in another way is the console.

enum AdminPlace: Equatable {
  case probe
  case metrics
  /// What is the same for everybody, and what the page to sign in is made of.
  case open
  case signIn
  /// `/sign-in/<code>`
  case link(String)
  case signOut
  case console

  init(_ path: String) {
    switch path {
    case "/livez", "/readyz": self = .probe
    case "/metrics": self = .metrics
    case "/style.css", "/console.js", "/icon.svg": self = .open
    case "/sign-in": self = .signIn
    case "/sign-out": self = .signOut
    default:
      let prefix = "/sign-in/"
      self = path.utf8.starts(with: prefix.utf8) ? .link(String(path.dropFirst(prefix.count))) : .console
    }
  }
}
