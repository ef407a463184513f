/// The part of `portcullis check` that looks at the key of pseudonyms.
package import Assembly
import Bytes
import Configuration
import Identity
package import KeyStore
import System

package struct PseudonymKeyCheck {
  package let file: PseudonymKeyFile
  /// Nil where the store could not be read: whether a missing key was lost is not known then.
  package let store: KeyStoreReader.Contents?
  package let exposure: FileExposure

  package init(file: PseudonymKeyFile, store: KeyStoreReader.Contents?, exposure: FileExposure) {
    self.file = file
    self.store = store
    self.exposure = exposure
  }

  package func check(_ report: inout CheckReport) {
    do throws(PseudonymKeyFile.Problem) {
      let path = PrintableText.field(file.path)
      guard try file.read() != nil else {
        guard let store else { return }
        if let since = store.pseudonymKeyMadeAt { throw .lost(file.path, since: since) }
        return report.ok(Self.name, "none yet: the first start makes \(path)")
      }
      exposure.check(file.path, as: Self.name, &report)
    } catch {
      report.problem(Self.name, error.description, error.status)
    }
  }

  private static let name = "pseudonym_key"
}
