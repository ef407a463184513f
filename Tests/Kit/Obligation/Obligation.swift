/// Whether a test may be skipped where the machine lacks what it needs: in CI only with leave, as `CI_CANNOT` gives it
/// (Tests/README.md, "In CI").
internal import Glibc

package enum Obligation {
  /// Whether the test is to run: where it can, and in CI also where it cannot, so that it fails.
  /// - Parameter need: what the machine has to have, in a word; the same word in `CI_CANNOT` is leave to skip.
  package static func runs(_ isPossible: Bool, _ need: String) -> Bool {
    isPossible || !maySkip(need, ci: value("CI"), cannot: value("CI_CANNOT"))
  }

  /// - Parameter cannot: words, with commas between them.
  package static func maySkip(_ need: String, ci: String, cannot: String) -> Bool {
    ci.isEmpty || cannot.split(separator: ",").contains { $0.utf8.elementsEqual(need.utf8) }
  }

  private static func value(_ name: String) -> String {
    // Copied at once; nothing here changes the environment.
    unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
  }
}
