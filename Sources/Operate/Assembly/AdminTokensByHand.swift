/// `ADMIN_TOKENS_PATH` while no gate runs: read, and changed under the lock of the key store.
package import Admin
import Bytes
package import Configuration
package import Prompt
import System

package struct AdminTokensByHand {
  private let configuration: GateConfiguration

  package init(_ configuration: GateConfiguration) throws {
    guard configuration.admin.isOn else {
      complain("there is no console: set ADMIN_LISTEN")
      throw ExitStatus.configuration
    }
    self.configuration = configuration
  }

  package func read() throws -> AdminTokens { try Self.read(configuration.admin) }

  /// None where there is no console.
  package static func read(
    _ admin: GateConfiguration.Admin, tell: Teller = { complain($0) }
  ) throws -> AdminTokens {
    guard admin.isOn else { return AdminTokens() }
    do throws(AdminTokenFile.Problem) {
      return try AdminTokenFile(path: admin.tokensPath).read()
    } catch {
      tell("ADMIN_TOKENS_PATH=\(PrintableText.field(admin.tokensPath)) \(error)")
      throw ExitStatus.configuration
    }
  }

  /// Under the lock of the key store, which no gate has then, and as whom a gate would serve.
  package func edit(_ change: (inout AdminTokens) throws -> Void) throws {
    try StoreAccess.locked(configuration) { _ in
      let former = try read()
      var tokens = former
      try change(&tokens)
      guard tokens != former else { return }
      do throws(SystemError) {
        try file.write(tokens)
      } catch {
        complain("ADMIN_TOKENS_PATH=\(PrintableText.field(file.path)) cannot be written: \(error)")
        throw ExitStatus.ioError
      }
    }
  }

  private var file: AdminTokenFile { AdminTokenFile(path: configuration.admin.tokensPath) }
}
