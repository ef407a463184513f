/// Answers what is ordered of who may see the console (docs/console.md, "Signing in").
package import Admin
import Bytes
import JSON
package import Sockets
import System

package final class AdminControl: Sendable {
  private let access: AdminAccess
  private let operators: AdminOperators
  /// What stands before a path where nobody has said otherwise, such as `http://127.0.0.1:8444`.
  private let base: String

  package init(_ access: AdminAccess, _ operators: AdminOperators, base: String) {
    self.access = access
    self.operators = operators
    self.base = base
  }

  package func answer(_ order: AdminOrder, from peer: UnixPeer?) -> ControlAnswer {
    guard let name = operators.name(of: peer) else {
      return .refused(
        ControlRefusal(.notPermitted, "only users in ADMIN_OPERATORS, root and the gate's own user may ask"))
    }
    switch order {
    case .link:
      return .admin(
        AdminResult.link(
          base: base, path: access.makeLink(for: name), user: name, seconds: SignInLinks.lifetime))
    case .list: return .admin(AdminResult.listing(access.list()))
    case .token(let token, let scopes, let seconds): return makeToken(token, scopes, seconds, by: name)
    case .revoke(let selection): return revoke(AdminAccess.Selection(selection), by: name)
    }
  }

  private func makeToken(
    _ name: String, _ scopes: [String], _ seconds: Int64, by user: String
  ) -> ControlAnswer {
    guard let scopes = AdminResult.scopes(scopes) else {
      return .refused(ControlRefusal(.wrongArguments, AdminTokens.Problem.noScope.description))
    }
    do throws(AdminAccess.TokenFailure) {
      let made = try access.makeToken(named: name, scopes: scopes, life: .seconds(seconds), by: user)
      return .admin(AdminResult.token(made.token, secret: made.secret))
    } catch {
      switch error {
      case .refused(let problem):
        return .refused(
          ControlRefusal(problem.isOfState ? .notAllowed : .wrongArguments, problem.description))
      case .unwritten(let error):
        return .refused(
          ControlRefusal(.notWritten, "there is no token, for ADMIN_TOKENS_PATH cannot be written: \(error)"))
      }
    }
  }

  private func revoke(_ selection: AdminAccess.Selection, by user: String) -> ControlAnswer {
    let (revoked, failure) = access.revoke(selection, by: user)
    if let failure {
      return .refused(
        ControlRefusal(
          .notWritten,
          "it opens nothing from now on, but ADMIN_TOKENS_PATH cannot be written (\(failure)): a restart before it "
            + "can would let the token in again"))
    }
    guard !revoked.isNothing || selection == .all else { return .refused(AdminResult.unknown) }
    return .admin(AdminResult.revoked(revoked))
  }
}

/// Hears operators who may have a link to sign in and nothing else; everybody else as before.
package final class OperatorControl: ControlHandler {
  private let control: GateControl
  private let operators: AdminOperators

  package init(_ control: GateControl, _ operators: AdminOperators) {
    self.control = control
    self.operators = operators
  }

  package func answer(_ request: ControlRequest, from peer: UnixPeer?) -> ControlAnswer {
    if ControlServer.isOwnUserOrRoot(peer?.user) || request == .admin(.link) {
      return control.answer(request, from: peer)
    }
    return .refused(
      ControlRefusal(
        .notPermitted,
        "users in ADMIN_OPERATORS may ask for a link to sign in, root and the gate's own user all else"))
  }

  /// Nobody among several users keeps the others out.
  package static var limits: ControlServer.Limits {
    var limits = ControlServer.Limits()
    limits.threadsPerUser = 3
    limits.audience = "users in ADMIN_OPERATORS, root and the gate's own user"
    return limits
  }
}

extension AdminAccess.Selection {
  package init(_ selection: AdminOrder.Selection) {
    switch selection {
    case .name(let name): self = .name(name)
    case .session(let number): self = .session(number)
    case .all: self = .all
    }
  }
}

extension AdminTokens.Problem {
  /// Not what was asked is wrong, but what there is.
  package var isOfState: Bool { self == .nameTaken || self == .tooMany }
}
