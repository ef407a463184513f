/// Users and groups of the host, and whether the kernel tells this process who is who (user_namespaces(7)).
package import System

package enum HostUsers {
  /// By name, else as a number.
  package static func user(_ text: String) -> UInt32? { ServingUser.number(ofUser: text) }

  /// By name, else as a number.
  package static func group(_ text: String) -> UInt32? { ServingUser.number(ofGroup: text) }

  /// Whether this process sees few of the host's users by their numbers, as under `PrivateUsers=yes`: 65,536 are what a
  /// container has whose users are its own.
  package static func areHidden(map path: String = "/proc/self/uid_map") throws(SystemError) -> Bool {
    UserMap.count(in: String(decoding: try WholeFile.read(path), as: UTF8.self)) < 65_536
  }

  /// The number that stands for everybody whose own is not seen here: it may be anybody.
  package static func hiddenUser(path: String = "/proc/sys/kernel/overflowuid") -> UInt32 {
    let text = (try? WholeFile.read(path)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    return UInt32(text.prefix { $0 != "\n" }) ?? 65_534
  }
}
