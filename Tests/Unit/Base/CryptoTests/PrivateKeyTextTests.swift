/// The text of private keys: read whole, compared, and wiped.
import System
import Testing

@testable import Crypto

@Suite struct PrivateKeyTextTests {
  private func bytes(of text: PrivateKeyText) -> [UInt8] {
    // The buffer is the object's own, and is copied.
    unsafe text.withPointer { bytes in
      unsafe Array(UnsafeBufferPointer(start: bytes, count: text.count))
    }
  }

  @Test(arguments: [0, 1, 4096, 99_999, 100_000])
  func aFileIsReadWhole(count: Int) throws {
    let folder = try TemporaryFolder(prefix: "portcullis-key-")
    let path = folder.path + "/key.pem"
    let written = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    try WholeFile.write(written, to: path, mode: 0o600, overwriting: true)
    let text = Result { try PrivateKeyText.read(path, limit: 100_000) }
    folder.remove()
    let key = try text.get()
    #expect(key.count == count && bytes(of: key) == written)
    #expect(key == PrivateKeyText(copying: written.span))
  }

  @Test func aFileBeyondTheLimitIsRefused() throws {
    let folder = try TemporaryFolder(prefix: "portcullis-key-")
    let path = folder.path + "/key.pem"
    try WholeFile.write([1, 2, 3], to: path, mode: 0o600, overwriting: true)
    let text = Result { try PrivateKeyText.read(path, limit: 2) }
    folder.remove()
    #expect(throws: SystemError.self) { try text.get() }
    #expect(throws: SystemError.self) { try PrivateKeyText.read("/nowhere/at/all", limit: 2) }
  }

  @Test func textsAreEqualByTheirBytes() {
    let one: [UInt8] = [1, 2, 3]
    let (same, other, longer): ([UInt8], [UInt8], [UInt8]) = ([1, 2, 3], [1, 2, 4], [1, 2, 3, 0])
    let text = PrivateKeyText(copying: one.span)
    #expect(text == PrivateKeyText(copying: same.span))
    #expect(text != PrivateKeyText(copying: other.span) && text != PrivateKeyText(copying: longer.span))
  }

  @Test func wipingLeavesZeros() {
    var secret: [UInt8] = [1, 2, 3]
    wipe(&secret)
    #expect(secret == [0, 0, 0])
    var nothing: [UInt8] = []
    wipe(&nothing)
    #expect(nothing.isEmpty)
  }
}
