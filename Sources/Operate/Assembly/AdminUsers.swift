/// Users of the host who have a say in the console, and whose members may open its socket; looked up at the start and at a reload.
import Bytes
package import Configuration
import Confinement
package import Control
import Glibc
package import Prompt
import System

/// Groups and users of the host that the admin listener's settings name; looked up once, at the start.
package struct AdminUsers: Equatable {
  /// Whose members may open the socket; nil for the gate's own user alone.
  package var group: UInt32?
  /// Who may sign in.
  package var people = AdminOperators.People()

  package init(group: UInt32? = nil, people: AdminOperators.People = AdminOperators.People()) {
    self.group = group
    self.people = people
  }

  /// All that is wrong with them is told before it gives up.
  package static func find(_ files: GateFiles, tell: Teller = { complain($0) }) throws -> AdminUsers {
    var found = AdminUsers()
    let people = try? AdminOperators.People.find(files, tell: tell)
    let admin = files.admin
    if admin.isOn, let name = admin.socketGroup {
      found.group = HostUsers.group(name)
      if found.group == nil {
        tell(
          "\(admin.groupSetting): there is no group \(PrintableText.field(name)): correct the name, or create the group"
        )
        throw ExitStatus.configuration
      }
    }
    guard let people else { throw ExitStatus.configuration }
    found.people = people
    return found
  }

  /// Who may connect to the control socket beside the gate's own user; nil where nobody else may sign in.
  package var controlGroup: UInt32? { people.areStated ? group ?? getegid() : nil }
}
