/// Whether a change was asked for by a page of the console itself (Fetch, "Origin header"; W3C Fetch Metadata).
internal import HTTPWire

enum OriginRule {
  /// What neither header says is refused: all browsers that the console works in send one of them.
  ///
  /// `Sec-Fetch-Site` is the browser's own word, which no page can write. It also knows what `Origin` does not: under
  /// `Referrer-Policy: no-referrer` a form of the console itself comes with `Origin: null`, as does one in a frame that
  /// another site has shut in.
  static func permits(_ head: RequestHead, isTLS: Bool) -> Bool {
    let site = head.value("Sec-Fetch-Site")
    if let site, site != "same-origin" { return false }
    switch head.value("Origin") {
    case nil, "null": return site != nil
    case let origin?: return isSame(origin, head.host, isTLS: isTLS)
    }
  }

  /// Without TLS of our own, something before us may have it.
  private static func isSame(_ origin: String, _ host: String?, isTLS: Bool) -> Bool {
    for (scheme, port) in [("https://", 443), ("http://", 80)] where origin.hasPrefix(scheme) {
      if scheme == "http://", isTLS { return false }
      guard let theirs = Authority(origin.dropFirst(scheme.count)), let ours = host.flatMap({ Authority($0) })
      else { return false }
      return theirs.name == ours.name && theirs.port ?? port == ours.port ?? port
    }
    return false
  }
}
