/// What all pages of the console have around them, and what each of them is (docs/operating.md, "Console").
package import System

/// A page as a value: made of numbers and texts, it knows nothing of the gate.
package protocol ConsolePage: Sendable {
  /// The whole document, in UTF-8.
  func html(_ frame: PageFrame) -> [UInt8]
  /// What of it changes while it is looked at, for the script and for programs: the answer of `/api/<page>`.
  func json() -> [UInt8]
}

/// What a page says around its content.
package struct PageFrame: Sendable {
  /// The host's name, or what the operator calls this gate.
  package var gate: String
  package var version: String
  /// Who looks at it.
  package var actor: String
  /// What each form carries in the field `token`; empty where the actor has no cookie.
  package var formToken: String
  /// Without it there are no buttons that change something.
  package var mayChange: Bool
  /// Whether there are devices, approvals and an audit to be looked at (`DEVICES_PATH`).
  package var hasDevices: Bool
  package var isDraining: Bool
  /// When the page is made.
  package var now: UnixTime
  /// What has just been done, from the query's `done`.
  package var done: DoneWord?

  package init(
    gate: String, version: String, actor: String, formToken: String, mayChange: Bool, hasDevices: Bool,
    isDraining: Bool, now: UnixTime, done: DoneWord? = nil
  ) {
    self.gate = gate
    self.version = version
    self.actor = actor
    self.formToken = formToken
    self.mayChange = mayChange
    self.hasDevices = hasDevices
    self.isDraining = isDraining
    self.now = now
    self.done = done
  }
}

/// What a change leads back with: `303` to `/sessions?done=session-ended`. Nothing else in the query is shown as done.
package enum DoneWord: String, CaseIterable, Sendable {
  case signedIn = "signed-in"
  case sessionEnded = "session-ended"
  case keyRevoked = "key-revoked"
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
package struct FieldProblem: Equatable, Sendable {
  /// The field's name in the form; a page shows a problem of a field that it does not have above the form.
  package let field: String
  /// A sentence: what is wrong and what to write instead.
  package let text: String

  package init(field: String, text: String) {
    self.field = field
    self.text = text
  }
}

/// Where a list goes on. Lists have at most fifty rows a page.
package struct ListEnd: Equatable, Sendable {
  package static let rowsPerPage = 50

  /// The query's `after` of the next page; nil on the last.
  package var next: String?
  /// Whether `after` was given.
  package var isFirst: Bool
  /// Of all pages, where it is known.
  package var total: Int?

  package init(next: String? = nil, isFirst: Bool = true, total: Int? = nil) {
    self.next = next
    self.isFirst = isFirst
    self.total = total
  }

  /// In place of rows: a search that has gone through very many stops before it knows that there are none.
  func inPlaceOfRows(_ none: String) -> String {
    if next != nil { return "None so far: the search goes on with the next page." }
    return isFirst ? none : "There are no more."
  }
}

/// How something stands, in a word and a colour.
package enum Standing: String, CaseIterable, Sendable {
  case good
  case doubtful
  case bad
  /// Nobody has to do anything about it.
  case neutral
}
