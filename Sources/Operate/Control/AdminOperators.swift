/// Users of the host who may sign in to the console, by the number that the kernel tells (docs/console.md,
/// "Signing in").
import Bytes
package import Configuration
import Confinement
import Glibc
package import Prompt
package import Sockets
import Synchronization
import System

package final class AdminOperators: Sendable {
  private let people: Mutex<People>

  /// As the settings name them, and as the host knows them.
  package struct People: Equatable {
    /// Those of `ADMIN_OPERATORS`, root, and the gate's own user.
    package var names: [UInt32: String] = [:]
    /// Whether others than root and the gate's own user are among them.
    package var areStated = false

    package init(names: [UInt32: String] = [:]) { self.names = names }

    package var users: [String: UInt32] { Dictionary(names.map { ($1, $0) }) { first, _ in first } }
  }

  package init(_ people: People) {
    self.people = Mutex(people)
  }

  package func update(_ people: People) { self.people.withLock { $0 = people } }

  /// Of whom may sign in, by his name.
  package func number(of name: String) -> UInt32? { people.withLock { $0.users[name] } }

  package func name(of user: UInt32) -> String? { people.withLock { $0.names[user] } }

  /// As whom the console knows the user at the other end; nil where he may not sign in.
  package func name(of peer: UnixPeer?) -> String? {
    peer.flatMap { peer in people.withLock { $0.names[peer.user] } }
  }

  /// Whether the control socket hears a user at all.
  package func mayAsk(_ user: UInt32?) -> Bool {
    user.map { user in people.withLock { $0.names[user] != nil } } ?? false
  }
}

extension AdminOperators.People {
  /// Looked up where the host's users can be: before the sandbox, as a rule.
  package static func find(_ files: GateFiles, tell: Teller = { complain($0) }) throws -> Self {
    var found = Self()
    let own = geteuid()
    found.names[0] = name(ofUser: 0)
    found.names[own] = name(ofUser: own)
    guard files.admin.isOn else { return found }
    if let name = files.runAs?.user, let user = HostUsers.user(name) {
      found.names[user] = Self.name(ofUser: user)
    }
    let operators = OperatorNames.find("ADMIN_OPERATORS", files.admin.operators, tell: tell)
    var isFound = operators != nil
    found.areStated = !files.admin.operators.isEmpty
    for (user, _) in operators ?? [] { found.names[user] = Self.name(ofUser: user) }
    if found.areStated, try OperatorNames.areHidden("ADMIN_OPERATORS", tell: tell) {
      tell(
        "ADMIN_OPERATORS: this process runs in a user namespace, where the kernel does not tell who asks: set "
          + "PrivateUsers=no in a drop-in of the service (docs/console.md, \"Signing in\"), or remove it")
      isFound = false
    }
    guard isFound else { throw ExitStatus.configuration }
    return found
  }

  /// What stands in the audit and on pages; one that is no plain word is known by his number.
  private static func name(ofUser user: UInt32) -> String {
    let name = AccountName.of(user: user).text ?? ""
    return !name.isEmpty && name.utf8.count <= 64 && name.utf8.allSatisfy(isPlain) ? name : "uid-\(user)"
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-_.@$\\".utf8.contains(byte)
    }
  }
}
