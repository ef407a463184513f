/// Where a gate's endpoints are, from the URL that an app has of it.
#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

package struct GateAddress: Sendable {
  /// `wss`, with the path that the app named.
  let upgrade: URL
  private let root: URLComponents

  /// Nil for what is neither `https` nor `wss`, or names no host.
  init?(_ gate: URL) {
    guard var components = URLComponents(url: gate, resolvingAgainstBaseURL: true),
      ["https", "wss"].contains(components.scheme?.lowercased()), components.host?.isEmpty == false
    else { return nil }
    components.fragment = nil
    components.scheme = "wss"
    if components.path.isEmpty { components.path = "/" }
    guard let upgrade = components.url else { return nil }
    self.upgrade = upgrade
    components.scheme = "https"
    components.query = nil
    root = components
  }

  /// - Parameters:
  ///   - path: an `EndpointPath`.
  ///   - query: without its question mark.
  func endpoint(_ path: String, query: String? = nil) -> URL? {
    var components = root
    components.path = path
    components.query = query
    return components.url
  }

  /// What is saved for a gate is known by it.
  package static func authority(of gate: URL) -> String {
    let host = gate.host?.lowercased() ?? ""
    return "\(host):\(gate.port ?? 443)"
  }
}
