internal import Bytes
internal import SessionWire

struct ClientHeaderError: Error {}
extension ClientUpdate {
  init(header: Span<UInt8>) throws(ClientHeaderError) {
    throw ClientHeaderError()
  }
}

struct ResumeRequest {
  let id: [UInt8]
  let received: Int
  let wantsState: Bool
  init?(header: Span<UInt8>) {
    let text = String(decoding: header.array, as: UTF8.self)
    let parts = text.split(separator: ";").map(String.init)
    guard parts.count >= 2, parts[1].hasPrefix("received="), let n = Int(parts[1].dropFirst(9)),
      let id = Base64.decode(Array(parts[0].utf8).span)
    else { return nil }
    self.id = id
    received = n
    wantsState = parts.count > 2
  }
}
extension SessionIDHash {
  init?(of request: ResumeRequest) { self.init(of: request.id.span) }
}
