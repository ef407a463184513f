/// The C library's modules that look host names up (nsswitch.conf(5)), loaded before `SystemCallFilter` forbids that.
///
/// Memory that is new and executable is refused from then on, and a module is just that. The library takes those that
/// are already there.
internal import Glibc
internal import System

package enum NameServices {
  /// Loads what the line for hosts names; what is not there or part of the library is passed over, as it passes it over.
  package static func load(configuration: String = "/etc/nsswitch.conf") {
    guard let bytes = try? WholeFile.read(configuration) else { return }
    for name in names(in: String(decoding: bytes, as: UTF8.self)) {
      // Never unloaded: it is the library's from here on.
      _ = unsafe dlopen("libnss_\(name).so.2", RTLD_NOW)
    }
  }

  /// Of `hosts: files mdns4_minimal [NOTFOUND=return] dns`, the three names.
  static func names(in text: String) -> [String] {
    for line in text.split(separator: "\n") {
      let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
      guard words.first == "hosts:" else { continue }
      return words.dropFirst().filter {
        $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
      }
      .map(String.init)
    }
    return []
  }
}
