/// What signing in needs of the configuration: names, people, and where a browser finds the console.
import Addresses
import Admin
import Assembly
import Configuration
import Control
import Crypto
package import TLS

extension AdminAccess.Settings {
  init(_ configuration: GateConfiguration, _ users: AdminUsers, _ tls: TLSMaterial) {
    self.init(
      hosts: HostRule(names: configuration.admin.hosts + tls.hosts), users: users.people.users,
      metricsNeedToken: configuration.admin.metricsNeedToken)
  }
}

extension TLSMaterial {
  /// That the server's certificate names.
  fileprivate var hosts: [String] {
    (try? CertificateSummary.all(inPEM: certificateChainPEM.span))?.first?.hosts ?? []
  }
}

extension GateConfiguration.AdminAddress {
  /// What a browser of this host, or of any where others get at it, writes before a path.
  package func base(_ tls: TLSMaterial) -> String {
    switch self {
    case .unix: return "http://localhost"
    case .tcp(let endpoint) where !isExposed: return "http://\(endpoint)"
    case .tcp(let endpoint):
      if let host = tls.hosts.first(where: { !$0.contains("*") }) {
        return "https://\(host):\(endpoint.port)"
      }
      return endpoint.address.isUnspecified
        ? "https://localhost:\(endpoint.port)" : "https://\(endpoint)"
    }
  }
}
