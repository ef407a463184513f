/// A folder of a test's own, gone with all that is in it when nobody holds it any more.
internal import Foundation
internal import System

/// Its path is short, as that of a UNIX socket has to be.
package final class TestFolder: Sendable {
  package let path: String

  /// - Parameter prefix: of its name, to be found by.
  package init(_ prefix: String) throws {
    path = try TemporaryFolder(prefix: prefix).path
  }

  deinit { remove() }

  /// Before its time.
  package func remove() { try? FileManager.default.removeItem(atPath: path) }

  package func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  package func write(_ name: String, _ text: String) throws -> String {
    try write(name, Array(text.utf8))
  }

  /// In place: what was there is cut off.
  @discardableResult
  package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(filePath: file(name)))
    return file(name)
  }

  /// Its permissions; nil when there is no such file.
  package func mode(_ name: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: file(name))[.posixPermissions] as? Int
  }
}
