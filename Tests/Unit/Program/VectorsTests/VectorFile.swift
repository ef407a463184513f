/// The files of `../shared/vectors`, beside the repository: where they are not, the tests say so and go on, and in CI they
/// fail.
import Foundation
import Kit
import Obligation
import Testing

enum VectorFile {
  static let folder = Repository.folder.deletingLastPathComponent().appending(path: "shared/vectors")

  /// Nil when the file is not there.
  static func contents(_ name: String) -> [UInt8]? {
    (try? Data(contentsOf: folder.appending(path: name))).map(Array.init)
  }

  /// Nil when the file is not there, which `account` says and counts.
  static func lines(_ name: String) -> [[UInt8]]? {
    contents(name).map { $0.split(separator: UInt8(ascii: "\n")).map(Array.init) }
  }

  /// What is not there is counted and said; a file that is there and holds less than it did is a mistake.
  /// - Parameter known: how many lines each file had when this was written.
  static func account(for known: [String: Int]) {
    var missing = 0
    for (file, count) in known {
      if let found = lines(file)?.count {
        #expect(found >= count, "\(file)")
      } else {
        missing += count
      }
    }
    #expect(missing == 0 || !Obligation.runs(false, "vectors"), "\(folder.path())")
    let all = known.values.reduce(0, +)
    let rest = missing > 0 ? "; \(missing) are missing, as \(folder.path()) is not whole" : ""
    print("vectors: \(all - missing) of \(all) known lines are there\(rest)")
  }
}
