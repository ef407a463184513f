import Testing

@testable import System

@Suite struct DiskSpaceTests {
  @Test func ofAFolder() throws {
    let space = try DiskSpace.of("/")
    #expect(space.bytes > 0 && space.freeBytes <= space.bytes)
  }

  @Test func ofNothing() {
    #expect(throws: SystemError("statvfs", 2)) { try DiskSpace.of("/nowhere/at/all") }
  }
}
