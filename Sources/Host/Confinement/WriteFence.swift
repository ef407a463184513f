/// What the serving process may change on the file system, its own folders and nothing else, and whom it may reach
/// (landlock(7)).
///
/// Reading stays free: certificates may lie anywhere, and links to them change at each renewal.
internal import CLinux
internal import Glibc
package import System

package enum WriteFence {
  package enum Outcome: Equatable, Sendable {
    /// With the kernel's version of Landlock.
    case raised(version: Int)
    /// The kernel has none, or it is switched off.
    case unavailable
  }

  /// For the calling thread and all that it starts. Files and sockets that are open stay open.
  ///
  /// From version 4 on no TCP port can be bound, and only `ports` connected to. From version 6 on no process outside gets a
  /// signal, and no socket of the abstract namespace is reached. What the kernel does not know yet stays free.
  /// - Parameters:
  ///   - folders: in which files and folders may be made, written and removed.
  ///   - ports: of any host's.
  ///   - usesAbstractSockets: where the service manager's socket is one.
  package static func raise(
    writableFolders folders: [String], tcpPorts ports: [UInt16] = [], usesAbstractSockets: Bool = false
  ) throws(SystemError) -> Outcome {
    let version = portcullis_landlock_version()
    if version < 0 {
      guard errno == ENOSYS || errno == EOPNOTSUPP || errno == EPERM else { throw SystemError("landlock") }
      return .unavailable
    }
    let number = portcullis_landlock_begin(
      handled(version: version), version >= 4 ? bindTCP | connectTCP : 0,
      version < 6 ? 0 : usesAbstractSockets ? signals : signals | abstractSockets)
    guard number >= 0 else { throw SystemError("landlock_create_ruleset") }
    let rules = OwnedDescriptor(owning: number)
    for path in folders {
      let folder = try OwnedDescriptor.open(path, O_RDONLY | O_DIRECTORY, 0)
      guard portcullis_landlock_permit(rules.number, permitted(version: version), folder.number) == 0 else {
        throw SystemError("landlock_add_rule \(path)")
      }
    }
    for port in ports where version >= 4 {
      guard portcullis_landlock_permit_port(rules.number, connectTCP, port) == 0 else {
        throw SystemError("landlock_add_rule \(port)")
      }
    }
    guard portcullis_landlock_enforce(rules.number) == 0 else {
      throw SystemError("landlock_restrict_self")
    }
    return .raised(version: Int(version))
  }

  // The bits of linux/landlock.h.
  private static let execute: UInt64 = 1 << 0
  private static let writeFile: UInt64 = 1 << 1
  private static let removeFile: UInt64 = 1 << 5
  private static let makeFolder: UInt64 = 1 << 7
  private static let makeFile: UInt64 = 1 << 8
  /// Folders removed; character devices, sockets, pipes, block devices and symbolic links made.
  private static let neverNeeded: UInt64 = 1 << 4 | 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12
  /// Since version 3.
  private static let truncate: UInt64 = 1 << 14
  /// Of the network, since version 4.
  private static let bindTCP: UInt64 = 1 << 0
  private static let connectTCP: UInt64 = 1 << 1
  /// What stays within, since version 6.
  private static let abstractSockets: UInt64 = 1 << 0
  private static let signals: UInt64 = 1 << 1

  private static func permitted(version: Int32) -> UInt64 {
    writeFile | removeFile | makeFolder | makeFile | (version >= 3 ? truncate : 0)
  }

  /// What is handled is forbidden except where it is permitted. Moving files between folders is forbidden as well,
  /// by the first version without being named.
  private static func handled(version: Int32) -> UInt64 {
    permitted(version: version) | execute | neverNeeded
  }
}
