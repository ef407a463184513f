/// What the operator calls this machine.
import Bytes
import System

enum HostName {
  /// As it was at the start; `localhost` where there is none.
  static var text: String {
    guard let bytes = try? WholeFile.read("/proc/sys/kernel/hostname") else { return "localhost" }
    let name = String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    return name.isEmpty ? "localhost" : PrintableText.field(name, limit: 64)
  }
}
