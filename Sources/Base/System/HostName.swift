/// What this machine is called (gethostname(2)). The file in /proc that says the same is hidden from a unit with
/// `ProcSubset=pid`.
internal import Glibc

package enum HostName {
  /// The longest that Linux has, `HOST_NAME_MAX`.
  private static let longest = 64

  /// As it is now; nil where there is none, or none in UTF-8.
  package static func read() -> String? {
    var name = [CChar](repeating: 0, count: longest + 1)
    // The call fills in no more than the array has.
    guard unsafe gethostname(&name, name.count) == 0 else { return nil }
    let bytes = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty else { return nil }
    return text
  }
}
