/// One request over one connection, and its answer (RFC 9112).
internal import Dialing

struct SocketExchange {
  let socket: TLSSocket
  private let request: URLRequest
  /// Read, and not used yet.
  private var received: [UInt8] = []
  private var bodyCount = 0

  init(_ loader: SocketLoader, _ task: URLSessionTask, _ request: URLRequest) throws(URLError) {
    self.request = request
    socket = try loader.connect(task, to: request.url)
  }

  /// - Parameter fields: beside the app's.
  func send(_ fields: [(String, String)]) throws(URLError) {
    guard let url = request.url, let host = url.host else { throw URLError(.badURL) }
    let path = (url.path.isEmpty ? "/" : url.path) + (url.query.map { "?\($0)" } ?? "")
    let authority = host.contains(":") ? "[\(host)]" : host
    var own = [("Host", url.port.map { "\(authority):\($0)" } ?? authority), ("Accept", "*/*")]
    if let body = request.httpBody { own.append(("Content-Length", String(body.count))) }
    let names = Set(request.fields.map { $0.name.lowercased() })
    var text = "\(request.httpMethod ?? "GET") \(path) HTTP/1.1\r\n"
    for (name, value) in own + fields where !names.contains(name.lowercased()) {
      text += "\(name): \(value)\r\n"
    }
    for (name, value) in request.fields { text += "\(name): \(value)\r\n" }
    try socket.write(Array((text + "\r\n").utf8) + [UInt8](request.httpBody ?? Data()))
  }

  mutating func readHead() throws(URLError) -> ResponseHead.Parsed {
    while true {
      let head: ResponseHead.Parsed?
      do throws(GateClientError) {
        head = try ResponseHead.parse(received)
      } catch {
        throw URLError(.cannotParseResponse)
      }
      if let head {
        received.removeFirst(head.length)
        if head.response.status >= 200 || head.response.status == 101 { return head }
      } else {
        let bytes = try socket.read()
        if bytes.isEmpty { throw URLError(.networkConnectionLost) }
        received += bytes
      }
    }
  }

  /// The next part; nil at the end.
  mutating func readBody(of head: ResponseHead.Parsed) throws(URLError) -> [UInt8]? {
    let length: Int? = if case .length(let length) = head.body { length } else { nil }
    if bodyCount == length { return nil }
    var bytes = received.isEmpty ? try socket.read() : received
    received = []
    if let length { bytes = Array(bytes.prefix(length - bodyCount)) }
    bodyCount += bytes.count
    if !bytes.isEmpty { return bytes }
    if length != nil { throw URLError(.networkConnectionLost) }
    return nil
  }

  /// What came after the head.
  mutating func takeReceived() -> [UInt8] {
    defer { received = [] }
    return received
  }
}
