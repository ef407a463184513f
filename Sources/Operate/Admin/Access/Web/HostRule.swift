/// By which names the console may be called: a site that leads its own name here (DNS rebinding) gets nothing
/// (docs/console.md, "Signing in").

package struct HostRule: Equatable, Sendable {
  private let names: Set<String>
  /// What stands behind the star of `*.example.org`, with its dot.
  private let parents: Set<String>

  /// - Parameter names: of certificates and of `ADMIN_HOSTS`; `*.` may stand for one label (RFC 6125 §6.4.3).
  package init(names: [String] = []) {
    let lowered = names.map { $0.lowercased() }
    self.names = Set(lowered.filter { !$0.hasPrefix("*.") })
    parents = Set(lowered.filter { $0.hasPrefix("*.") }.map { String($0.dropFirst()) })
  }

  /// - Parameter host: nil where the request has none.
  package func permits(_ host: String?) -> Bool {
    guard let authority = host.flatMap({ Authority($0) }) else { return false }
    // Nobody but its owner gives out certificates, cookies and pages for an address; a name is anybody's.
    if authority.isAddress || authority.name == "localhost" || names.contains(authority.name) { return true }
    guard let dot = authority.name.firstIndex(of: "."), dot > authority.name.startIndex else { return false }
    return parents.contains(String(authority.name[dot...]))
  }
}
