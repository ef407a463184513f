/// Which service asks, by its token.
package import Bytes
internal import Crypto
internal import PortcullisProtocol
internal import System
internal import Time

extension Transaction {
  /// - Parameter scope: what it asks for.
  package mutating func service(bearer token: String, scope: ServiceScopes) throws(CallFailure)
    -> ServiceRecord
  {
    guard let service = try store.service(withToken: ServiceToken.hash(token)) else {
      throw .refused(.tokenRejected, "service_token")
    }
    know(.service(service.id))
    guard service.scopes.isSuperset(of: scope) else { throw .refused(.scopeMissing, "service_scope") }
    return service
  }

  /// All tokens that hold now, for whoever takes requests in.
  mutating func announceServices() throws(CallFailure) {
    announce(.services(try ServiceToken.holding(store)))
  }
}

/// What a service shows to be known: 256 random bits, of which the store has the hash alone.
package enum ServiceToken {
  /// - Returns: 43 characters of base64url.
  static func make(_ transaction: Transaction) -> String {
    Base64.encodeURL(transaction.entropy.bytes(32).span)
  }

  package static func hash(_ token: String) -> Bytes32 { SHA256.hash(Array(token.utf8).span) }

  static func holding(_ store: RegistryDatabase) throws(CallFailure) -> [Bytes32: ServiceID] {
    let services = try store.services().filter { $0.revokedAt == nil }
    return Dictionary(services.map { ($0.tokenHash, $0.id) }, uniquingKeysWith: { first, _ in first })
  }
}
