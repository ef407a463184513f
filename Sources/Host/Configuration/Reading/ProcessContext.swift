/// What the process was started with: its environment, processors and descriptors.
internal import CLinux
internal import Glibc

package enum ProcessContext {
  /// Names and values in their order; an entry without `=` is left out.
  package static func environment() -> [(String, String)] {
    var variables: [(String, String)] = []
    guard var entry = unsafe portcullis_environment() else { return [] }
    // environ(7): an array of C strings that ends with NULL; nothing here changes it.
    while let text = unsafe entry.pointee {
      let line = unsafe String(cString: text)
      if let equals = line.firstIndex(of: "=") {
        variables.append((String(line[..<equals]), String(line[line.index(after: equals)...])))
      }
      unsafe entry += 1
    }
    return variables
  }

  /// The command line, the program's own name first.
  package static func arguments() -> [String] {
    (0..<portcullis_argument_count()).compactMap { index in
      // The C library keeps the texts for the life of the process; they are copied.
      unsafe portcullis_argument(index).map { unsafe String(cString: $0) }
    }
  }

  /// The path that the program was started by, absolute, as the working directory may go: whoever executes it again gets
  /// what stands there by then. The kernel's own answer names no file any more once that has been replaced.
  package static func program() -> String? {
    guard let name = arguments().first, !name.isEmpty else { return nil }
    if name.contains("/") { return absolute(name) }
    let folders = environment().first { $0.0 == "PATH" }?.1 ?? "/usr/local/bin:/usr/bin:/bin"
    return folders.split(separator: ":", omittingEmptySubsequences: false).lazy
      .map { ($0.isEmpty ? "." : $0) + "/" + name }
      // The name is lent for the call.
      .first { unsafe access($0, X_OK) == 0 }
      .flatMap(absolute)
  }

  private static func absolute(_ path: String) -> String? {
    if path.hasPrefix("/") { return path }
    // Made by the call, and freed when it has been copied.
    guard let folder = unsafe getcwd(nil, 0) else { return nil }
    defer { unsafe free(folder) }
    return unsafe String(cString: folder) + "/" + path
  }

  /// Online ones, at least one.
  package static func processors() -> Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// The soft RLIMIT_NOFILE.
  package static func descriptorLimit() -> Int {
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }
}
