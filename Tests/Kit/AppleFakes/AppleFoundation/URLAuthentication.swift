/// What a session's delegate is asked while a connection is made: whether to trust the server, and who one is.

@available(iOS 2.0, *)
public let NSURLAuthenticationMethodServerTrust: String = "NSURLAuthenticationMethodServerTrust"
@available(iOS 3.0, *)
public let NSURLAuthenticationMethodClientCertificate: String = "NSURLAuthenticationMethodClientCertificate"

@available(iOS 2.0, *)
open class URLAuthenticationChallenge: NSObject, @unchecked Sendable {
  private let space: URLProtectionSpace

  package init(_ space: URLProtectionSpace) {
    self.space = space
  }

  open var protectionSpace: URLProtectionSpace { space }
}

@available(iOS 2.0, *)
open class URLProtectionSpace: NSObject, @unchecked Sendable {
  /// What the server has shown; nil where that is not the question. Security makes a SecTrust of it.
  package let peer: PeerTrust?
  private let method: String
  private let name: String

  package init(method: String, host: String, peer: PeerTrust?) {
    self.method = method
    name = host
    self.peer = peer
  }

  open var authenticationMethod: String { method }
  open var host: String { name }
}

@available(iOS 2.0, *)
open class URLCredential: NSObject, @unchecked Sendable {
  public enum Persistence: UInt, Sendable {
    case none = 0
    case forSession = 1
    case permanent = 2
    case synchronizable = 3
  }

  /// Security's initializers put in what a credential is of.
  package enum Content: Sendable {
    case identity(ShownIdentity)
    case trust(PeerTrust)
  }

  package let content: Content

  package init(_ content: Content) {
    self.content = content
  }
}
