/// One process has the store: whoever comes second is told so, and not that the disk fails.
import Kit
import System
import Testing

@testable import Registry

@Suite struct HeldStoreTests {
  @Test func itIsOnesAlone() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-held-")
    let path = folder.path + "/devices.db"
    let store = try RegistryDatabase(path)
    #expect(isInUse(path))
    store.close()
    #expect(!isInUse(path))
    folder.remove()
  }

  private func isInUse(_ path: String) -> Bool {
    do throws(StoreFailure) {
      try RegistryDatabase(path).close()
      return false
    } catch {
      if case .inUse = error { return true }
      return false
    }
  }
}
