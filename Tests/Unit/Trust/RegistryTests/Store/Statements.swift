/// Each statement on rows that the store has prepared in a test stands in `statements.sql`, which another engine is asked to
/// prepare as well (Tests/EndToEnd/devices/test_statements.py).
///
/// `UPDATE_GOLDEN=1` over all tests of the registry writes the file anew.
import Foundation
import Kit
import Synchronization
import Testing

@testable import Registry

enum Statements {
  private static let path = "Tests/Unit/Trust/RegistryTests/Store/statements.sql"
  private static let written = Mutex<Set<String>>([])
  private static let known = Set(
    ((try? Repository.text(path)) ?? "").split(separator: "\n").map { String($0) })

  /// What only tests ask for, and the counts of SQLite's triggers.
  private static let others = [
    "sqlite_schema", "pragma_", "sum(length", "instr(CAST(", "SET number =", "randomblob", "endings",
  ]

  /// To be called before a test's store is closed.
  static func check(_ store: RegistryDatabase) {
    let lines = Set(store.statements.compactMap(line))
    if ProcessInfo.processInfo.environment["UPDATE_GOLDEN"] != nil {
      written.withLock { written in
        written.formUnion(lines)
        let text = written.sorted().joined(separator: "\n") + "\n"
        try? Data(text.utf8).write(to: Repository.folder.appending(path: path))
      }
    } else {
      let news = lines.subtracting(known).sorted()
      #expect(news.isEmpty, "statements.sql is to be written anew with UPDATE_GOLDEN=1")
    }
  }

  /// In one line; nil for what is no statement on rows, or a test's own.
  private static func line(_ text: String) -> String? {
    let words = text.split { $0.isWhitespace }
    guard let first = words.first, ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(first) else {
      return nil
    }
    let line = words.joined(separator: " ")
    if line.hasPrefix("SELECT count(*) FROM ") && !line.contains("?") { return nil }
    return others.contains { line.contains($0) } ? nil : line + ";"
  }
}
