/// What access says of a request, and how the request came (docs/console.md, "Admin listener").
internal import HTTPWire
package import Sockets

/// Who is known of before anything is read.
package enum AdminTransport: Equatable, Sendable {
  /// From another host, perhaps.
  case tls
  /// Somebody on this host.
  case loopback
  /// A process of this host; nil where the kernel does not tell whose.
  case unix(UnixPeer?)
}

package enum AdminVerdict: Sendable {
  /// - Parameter formToken: what a form of the answer carries; empty where the actor has no cookie.
  case actor(AdminActor, formToken: String)
  /// Not signed in: a page leads to the one that says how, anything else is 401.
  case nobody
  case refused(AdminRefusal)
  /// A page of signing in itself.
  case answer(AdminAnswer)
  /// 303 to a path of the console, with a cookie that begins or ends a time of being signed in.
  /// - Parameter cookie: the whole value of `Set-Cookie`.
  case signed(cookie: String, to: String)
}

/// Why somebody may not do what he asks for; the sentence is all that he learns.
package enum AdminRefusal: String, CaseIterable, Error, Sendable {
  /// The name in `Host` is none of the console's.
  case host = "this name is none of the console's: add it to ADMIN_HOSTS"
  /// A change that another site may have sent.
  case origin = "this change was not sent by a page of the console"
  case formToken = "this form is not of the time you are signed in for: go back and load the page anew"
  case scope = "the token may not do this"
  case token = "there is no such token"
}
