/// What all pages of the console have around them, and what each of them is (docs/console.md, "Console").
import System
import Time

/// A page as a value: made of numbers and texts, it knows nothing of the gate.
protocol ConsolePage: Sendable {
  /// The whole document, in UTF-8.
  func html(_ frame: PageFrame) -> [UInt8]
  /// What of it changes while it is looked at.
  func live() -> LiveAnswer
  /// The same for the script and for programs, with what changes around each page: the answer of `/api/<page>`.
  func json(_ waiting: Waiting) -> [UInt8]
}

extension ConsolePage {
  func json(_ waiting: Waiting) -> [UInt8] {
    var answer = live()
    for entry in MenuEntry.allCases {
      guard let (name, number) = waiting.count(of: entry) else { continue }
      answer.add(name, .text(Layout.count(number)))
    }
    return answer.json()
  }
}

/// What a page says around its content.
struct PageFrame: Sendable {
  /// The host's name, or what the operator calls this gate.
  var gate: String
  var version: String
  /// Who looks at it.
  var actor: String
  /// What each form carries in the field `token`; empty where the actor has no cookie.
  var formToken: String
  /// Without it there are no buttons that change something.
  var mayChange: Bool
  /// Whether there are devices, approvals and an audit to be looked at (`DEVICES_PATH`).
  var hasDevices: Bool
  var isDraining: Bool
  var waiting = Waiting()
  /// What is looked for in the field of each page.
  var search = ""
  /// When the page is made.
  var now: UnixTime
  /// What has just been done, from the query's `done`.
  var done: DoneWord?
}

/// What a change leads back with: `303` to `/sessions?done=session-ended`. Nothing else in the query is shown as done.
enum DoneWord: String, CaseIterable, Sendable {
  case signedIn = "signed-in"
  case sessionEnded = "session-ended"
  case keyRevoked = "key-revoked"
  case pairingOpened = "pairing-opened"
  case pairingEnded = "pairing-ended"
  case deviceConfirmed = "device-confirmed"
  case deviceRevoked = "device-revoked"
  case approvalConfirmed = "approval-confirmed"
  case approvalRefused = "approval-refused"
  case reloaded
  case drainBegun = "drain-begun"
  case drainEnded = "drain-ended"
  case allSessionsEnded = "all-sessions-ended"
}

/// What is wrong with one field of a form that was sent.
struct FieldProblem: Equatable, Sendable {
  /// The field's name in the form; a page shows a problem of a field that it does not have above the form.
  let field: String
  /// A sentence: what is wrong and what to write instead.
  let text: String
}

/// Where a list goes on. Lists have at most fifty rows a page.
struct ListEnd: Equatable, Sendable {
  static let rowsPerPage = 50

  /// The query's `after` of the next page; nil on the last.
  var next: String?
  /// Whether `after` was given.
  var isFirst: Bool = true
  /// Of all pages, where it is known.
  var total: Int?

  /// In place of rows: a search that has gone through very many stops before it knows that there are none.
  func inPlaceOfRows(_ none: String) -> String {
    if next != nil { return "None so far: the search goes on with the next page." }
    return isFirst ? none : "There are no more."
  }
}

/// How something stands, in a word and a colour.
enum Standing: String, CaseIterable, Sendable {
  case good
  case doubtful
  case bad
  /// Nobody has to do anything about it.
  case neutral
}
