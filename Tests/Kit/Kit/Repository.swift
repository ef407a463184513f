/// Where the sources are, and the test vectors beside them.
package import Foundation

package enum Repository {
  package static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    .standardizedFileURL

  package static func text(_ path: String) throws -> String {
    try String(contentsOf: folder.appending(path: path), encoding: .utf8)
  }
}
