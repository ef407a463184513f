/// What the admin listener asks of the gate: probes, numbers, pages, and changes (docs/console.md, "Admin listener").
///
/// Both of its threads are behind the loops (niceness 10): they take no lock that loops wait for, lest a loop waits until
/// such a thread gets its processor back. What needs one is done by a thread that is not.
package import Bytes

package protocol AdminHandler: Sendable {
  /// The loops answer. Called on the fast thread: waits for nothing.
  var isAlive: Bool { get }
  /// At most five seconds old. Called on the fast thread: waits for nothing.
  var readiness: Readiness { get }
  /// In Prometheus' text format, version 0.0.4. Called on the fast thread.
  func metrics() -> [UInt8]
  /// A style, a script or a picture, the same for every client; nil for any other path. Called on the fast thread.
  func asset(_ path: String) -> AdminAnswer?
  /// An answer out of memory; nil for what has to be searched, waited for or written, which `work` does. Called on the fast
  /// thread.
  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer?
  /// May wait and search. Called on the slow thread, one request at a time.
  func work(_ request: AdminRequest) -> AdminAnswer
}

/// Whether the gate can serve, by name.
package struct Readiness: Equatable, Sendable {
  package enum State: String, Sendable {
    case ok
    /// It serves, and something is wrong.
    case degraded
    /// Another gate would do better.
    case failed
  }

  package struct Check: Equatable, Sendable {
    /// Of a fixed set, such as `listening`.
    package let name: String
    package let state: State
    /// For the operator; nil where there is nothing to be said.
    package let detail: String?

    package init(_ name: String, _ state: State, detail: String? = nil) {
      self.name = name
      self.state = state
      self.detail = detail
    }
  }

  package let checks: [Check]

  package init(checks: [Check]) {
    self.checks = checks
  }

  /// The worst of all.
  package var state: State {
    if checks.contains(where: { $0.state == .failed }) { return .failed }
    return checks.contains { $0.state == .degraded } ? .degraded : .ok
  }
}

/// A request of somebody who may make it: signed in or with a token, and a change with all that a change needs.
package struct AdminRequest: Sendable {
  /// As on the wire, without the query; such as `/sessions`.
  package let path: String
  /// A POST; its form is the operator's, and was not made by another site.
  package let isChange: Bool
  package let query: AdminForm
  /// Empty for what is no change.
  package let form: AdminForm
  package let actor: AdminActor
  /// What each form of a page carries in the field `token`; empty where the actor has no cookie.
  package let formToken: String

  package init(
    path: String, isChange: Bool, query: AdminForm, form: AdminForm, actor: AdminActor, formToken: String
  ) {
    self.path = path
    self.isChange = isChange
    self.query = query
    self.form = form
    self.actor = actor
    self.formToken = formToken
  }
}

/// Who asks, as the audit names it.
package struct AdminActor: Equatable, Sendable {
  package enum Scope: String, CaseIterable, Sendable {
    case metrics
    case read
    case write
  }

  /// By what it may, so that what takes long can end with it (`AdminAccess.holds`).
  package enum Grant: Equatable, Sendable {
    case session(UInt64)
    /// By the hash that is kept of it.
    case token(Bytes32)
    /// A test's.
    case none
  }

  /// A system user's name, or a token's.
  package let name: String
  /// Those too that others include.
  package let scopes: Set<Scope>
  package let grant: Grant
  /// Of the host; nil of a token.
  package let user: UInt32?

  package init(name: String, scopes: Set<Scope>, grant: Grant = .none, user: UInt32? = nil) {
    self.name = name
    self.user = user
    self.scopes = scopes
    self.grant = grant
  }

  /// Of what needs nobody.
  package static let anybody = AdminActor(name: "anybody", scopes: [.metrics])
}

/// Names and values of a query or a form (WHATWG URL, "application/x-www-form-urlencoded parsing"), in order; a name may
/// stand once.
package struct AdminForm: Equatable, Sendable {
  package let fields: [(name: String, value: String)]

  package init(_ fields: [(name: String, value: String)] = []) {
    self.fields = fields
  }

  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  package static func == (left: Self, right: Self) -> Bool { left.fields.elementsEqual(right.fields, by: ==) }
}

package enum AdminAnswer: Sendable {
  /// HTML. `status` is 200, or what says what was wrong with a form.
  case page(AdminStatus, [UInt8])
  /// JSON with an ETag over its bytes, so that who has it gets 304.
  case json(AdminStatus, [UInt8])
  /// A style, a script or a picture, good until the program changes.
  case asset(contentType: String, [UInt8])
  /// 303 to a path of the console: what a form was sent for has been done.
  case seeOther(String)
  /// A download, as much at a time as `AdminBody.next` gives.
  case stream(contentType: String, fileName: String, any AdminBody)
}

package enum AdminStatus: Int, Sendable {
  case ok = 200
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case conflict = 409
  case unavailable = 503
}

/// The pieces of a download. Called on the slow thread.
package protocol AdminBody: AnyObject, Sendable {
  /// Nil after the last one.
  func next() -> [UInt8]?
}
