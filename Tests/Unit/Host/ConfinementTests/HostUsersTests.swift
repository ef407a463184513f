import System
import Testing

@testable import Confinement

@Suite struct HostUsersTests {
  @Test(arguments: [("root", 0), ("0", 0), ("nobody", 65_534), ("54321", 54_321)] as [(String, UInt32)])
  func users(text: String, number: UInt32) {
    #expect(HostUsers.user(text) == number)
  }

  @Test(arguments: [("root", 0), ("daemon", 1), ("54321", 54_321)] as [(String, UInt32)])
  func groups(text: String, number: UInt32) {
    #expect(HostUsers.group(text) == number)
  }

  @Test(arguments: ["no-such-name", "", "-1", "4294967295", "0x10"]) func nobody(text: String) {
    #expect(HostUsers.user(text) == nil && HostUsers.group(text) == nil)
  }

  /// As systemd's PrivateUsers=yes has it: root, the unit's own user, and nobody else.
  @Test func hiddenUsers() throws {
    let folder = try TemporaryFolder(prefix: "host-users-")
    let few = folder.path + "/few"
    let all = folder.path + "/all"
    try WholeFile.write(Array("0 0 1\n990 990 1\n".utf8), to: few, mode: 0o600, overwriting: false)
    try WholeFile.write(Array("0 0 4294967295\n".utf8), to: all, mode: 0o600, overwriting: false)
    #expect(try HostUsers.areHidden(map: few))
    #expect(try !HostUsers.areHidden(map: all))
    #expect(throws: SystemError.self) { try HostUsers.areHidden(map: folder.path + "/none") }
    try WholeFile.write(Array("4711\n".utf8), to: folder.path + "/number", mode: 0o600, overwriting: false)
    #expect(HostUsers.hiddenUser(path: folder.path + "/number") == 4711)
    #expect(HostUsers.hiddenUser(path: folder.path + "/none") == 65_534)
    folder.remove()
  }
}
