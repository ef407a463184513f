/// The one rule for settings that name operators (ADMIN_OPERATORS, APPROVAL_OPERATORS): users of this host, each known by a
/// number of his own.
import Bytes
import Confinement
import Glibc
package import Prompt
import System

package enum OperatorNames {
  /// The numbers in the order of the names, with what the host calls them; nil when there was something to tell.
  /// - Parameter hidden: the number that stands for each user whose own is not seen here.
  package static func find(
    _ setting: String, _ names: [String], hidden: UInt32 = HostUsers.hiddenUser(), tell: Teller
  ) -> [(user: UInt32, name: String?)]? {
    var found: [(user: UInt32, name: String?)] = []
    for name in names {
      let shown = "\(setting): \(PrintableText.field(name))"
      guard let user = HostUsers.user(name) else {
        tell("\(setting): there is no user \(PrintableText.field(name)): correct the name")
        continue
      }
      if user == hidden, user != geteuid() {
        tell(
          "\(shown) may be anybody, as the kernel gives this number to users that it does not show: name "
            + "another user")
        continue
      }
      let account = AccountName.of(user: user)
      if account == .unknown {
        tell(
          "\(shown) has an account whose name the host does not know just now: start again when it knows its "
            + "users")
        continue
      }
      found.append((user, account.text))
    }
    return found.count == names.count ? found : nil
  }

  /// Whether the kernel gives one number to several users here, so that nobody can say who asks.
  package static func areHidden(_ setting: String, tell: Teller) throws -> Bool {
    do {
      return try HostUsers.areHidden()
    } catch {
      tell("\(setting): whether the kernel tells who asks cannot be seen: \(error)")
      throw ExitStatus.configuration
    }
  }
}
