/// The cookie that names a browser's session (RFC 6265bis).
internal import HTTPWire

enum ConsoleCookie {
  /// Under TLS no other host and no plain page can set it. Without, cookies do not know ports: each has a name of its
  /// own, so that two consoles of one host do not sign each other out.
  static func name(_ head: RequestHead, isTLS: Bool) -> String {
    if isTLS { return "__Host-portcullis" }
    return "portcullis-\(head.host.flatMap { Authority($0) }?.port ?? 80)"
  }

  /// Nil without one, and where two stand side by side: one of them is another's.
  static func value(_ head: RequestHead, isTLS: Bool) -> String? {
    let name = name(head, isTLS: isTLS)
    var found: String?
    for index in 0..<head.fieldCount {
      let field = head.field(at: index)
      guard field.name.lowercased() == "cookie" else { continue }
      for pair in field.value.split(separator: ";") {
        let pair = pair.drop { $0 == " " || $0 == "\t" }
        guard pair.utf8.starts(with: name.utf8), pair.dropFirst(name.count).first == "=" else { continue }
        if found != nil { return nil }
        found = String(pair.dropFirst(name.count + 1))
      }
    }
    return found
  }

  /// The value of `Set-Cookie`.
  /// - Parameter value: nil takes it away.
  static func setting(_ value: String?, _ head: RequestHead, isTLS: Bool) -> String {
    let life = value == nil ? 0 : AdminSessions.lifetime.components.seconds
    return "\(name(head, isTLS: isTLS))=\(value ?? ""); Path=/; Max-Age=\(life); HttpOnly; SameSite=Strict"
      + (isTLS ? "; Secure" : "")
  }
}
