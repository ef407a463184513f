/// The program that this process runs: where its file is, and going on as another one (execve(2)).
internal import Glibc

package enum ProgramFile {
  /// By the kernel's word, whatever the process was started as.
  package static func own() throws(SystemError) -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    // The call writes at most as many bytes as the array has, and no zero after them.
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    guard count > 0 else { throw SystemError("readlink /proc/self/exe") }
    return String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// With this process's environment and standard descriptors. Returns only to say why it is not.
  package static func goOn(as path: String, arguments: [String]) -> SystemError {
    let words = CStrings(arguments)
    let number = withExtendedLifetime(words) {
      // Lent for the call, which copies them.
      _ = unsafe execv(path, UnsafePointer(words.pointers))
      return errno
    }
    return SystemError("execute \(path)", number)
  }

  /// The same, with a file's bytes from the first on as standard input.
  package static func goOn(
    as path: String, arguments: [String], reading file: borrowing OwnedDescriptor
  ) -> SystemError {
    guard lseek(file.number, 0, SEEK_SET) == 0, dup2(file.number, 0) == 0 else {
      return SystemError("dup2 \(file.number)")
    }
    return goOn(as: path, arguments: arguments)
  }
}
