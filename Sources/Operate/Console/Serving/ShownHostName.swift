/// What the operator calls this machine.
import Bytes
import System

package enum ShownHostName {
  /// As it is now; `localhost` where it has no name.
  package static var text: String {
    HostName.read().map { PrintableText.field($0, limit: 64) } ?? "localhost"
  }
}
