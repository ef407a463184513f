/// A directory of one's own under /tmp, gone with everything in it when it is removed.
internal import Glibc

package struct TemporaryFolder: ~Copyable {
  package let path: String

  /// - Parameter prefix: of its name; six random letters follow.
  package init(prefix: String) throws(SystemError) {
    var template = Array("/tmp/\(prefix)XXXXXX".utf8) + [0]
    // mkdtemp changes the six letters in place, within the array, which ends with a zero byte.
    let made = unsafe template.withUnsafeMutableBytes { bytes in
      guard let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress else { return false }
      return unsafe mkdtemp(start) != nil
    }
    guard made else { throw SystemError("mkdtemp") }
    path = String(decoding: template.dropLast(), as: UTF8.self)
  }

  /// Removes the files in it, and then the directory; folders within it are not looked into.
  package consuming func remove() {
    if let directory = unsafe opendir(path) {
      while let entry = unsafe readdir(directory) {
        // d_name is a string within the entry, valid until the next readdir.
        let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          unsafe String(decoding: unsafe bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != ".." { try? FileNames.remove(path + "/" + name) }
      }
      _ = unsafe closedir(directory)
    }
    _ = unsafe rmdir(path)
  }
}
