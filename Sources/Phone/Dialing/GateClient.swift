/// A blocking HTTPS client for one gate: requests over a kept connection, WebSockets over connections of
/// their own.
internal import Bytes
internal import System

package final class GateClient {
  package let url: GateURL
  /// How long connecting, or one request with its response, may take.
  package let timeout: Duration
  private let address: String?
  private let settings: ClientTLSSettings
  private var idle: ClientConnection?

  /// - Parameters:
  ///   - certificate: shown to servers that ask for one.
  ///   - address: where to connect, instead of where the host's name leads.
  package init(
    _ url: GateURL, trust: ServerTrust, certificate: ClientCertificate? = nil, address: String? = nil,
    timeout: Duration = .seconds(10)
  ) throws(GateClientError) {
    self.address = address
    self.url = url
    self.timeout = timeout
    settings = try ClientTLSSettings.make(trust, certificate)
  }

  // MARK: Requests

  package func get(_ path: String, fields: [GateResponse.Field] = []) throws(GateClientError) -> GateResponse
  {
    try send(method: "GET", path: path, fields: fields)
  }

  package func post(
    _ path: String, json: [UInt8], fields: [GateResponse.Field] = []
  ) throws(GateClientError) -> GateResponse {
    let type = GateResponse.Field("Content-Type", "application/json")
    return try send(method: "POST", path: path, fields: [type] + fields, body: json)
  }

  /// Any method and fields; `Host`, and `Content-Length` with a body, are added.
  /// - Parameter wait: how long the gate was asked to wait before it answers.
  package func send(
    method: String, path: String, fields: [GateResponse.Field], body: [UInt8]? = nil, wait: Duration = .zero
  ) throws(GateClientError) -> GateResponse {
    let length = body.map { [GateResponse.Field("Content-Length", String($0.count))] } ?? []
    let request = try head(method, path, fields + length) + (body ?? [])
    let deadline = Deadline.after(timeout + wait)
    if var connection = idle.take(), connection.isStillOpen() {
      do throws(GateClientError) {
        return try exchange(request, over: connection, deadline)
      } catch {
        // The server may have closed it meanwhile. Only what changes nothing is sent twice (RFC 9110 §9.2.2).
        guard method == "GET", error.isLostConnection else { throw error }
      }
    }
    return try exchange(request, over: open(deadline), deadline)
  }

  /// A WebSocket on a connection of its own, as iOS opens it; `GateClientError.refused` is any answer but
  /// 101.
  /// - Parameters:
  ///   - path: instead of the URL's.
  ///   - offersDeflate: whether permessage-deflate is offered.
  package func connectWebSocket(
    path: String? = nil, fields: [GateResponse.Field] = [], subprotocols: [String] = [],
    offersDeflate: Bool = false
  ) throws(GateClientError) -> WebSocketClient {
    let deadline = Deadline.after(timeout)
    let handshake = WebSocketHandshake(subprotocols: subprotocols, offersDeflate: offersDeflate)
    let request = try head("GET", path ?? url.path, handshake.fields + fields)
    var connection = try open(deadline)
    let response = try connection.exchange(request, deadline)
    guard response.status == 101 else { throw .refused(response) }
    let chosen = try handshake.chosenSubprotocol(in: response)
    let deflate = try handshake.chosenDeflate(in: response)
    return WebSocketClient(
      connection, response: response, subprotocol: chosen, deflate: deflate, timeout: timeout)
  }

  // MARK: Parts of them

  private func open(_ deadline: Deadline) throws(GateClientError) -> ClientConnection {
    ClientConnection(try TLSConnection.open(to: url, at: address, settings, deadline))
  }

  private func exchange(
    _ request: [UInt8], over connection: consuming ClientConnection, _ deadline: Deadline
  ) throws(GateClientError) -> GateResponse {
    var connection = connection
    let response = try connection.exchange(request, deadline)
    if connection.isReusable { idle = consume connection }
    return response
  }

  /// Request line and fields, ended by the empty line.
  private func head(
    _ method: String, _ path: String, _ fields: [GateResponse.Field]
  ) throws(GateClientError) -> [UInt8] {
    var text = "\(method) \(path) HTTP/1.1\r\n"
    for field in [GateResponse.Field("Host", url.authority)] + fields {
      guard field.isSendable else { throw .invalidField(name: field.name) }
      text += "\(field.name): \(field.value)\r\n"
    }
    return Array((text + "\r\n").utf8)
  }
}

extension GateResponse.Field {
  /// A name and a value that cannot break out of their line (RFC 9110 §5.5 and §5.6.2).
  fileprivate var isSendable: Bool {
    let symbols = Array("!#$%&'*+-.^_`|~".utf8)
    let isToken = name.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
      default: symbols.contains(byte)
      }
    }
    return !name.isEmpty && isToken && value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
  }
}

extension GateClientError {
  package var isLostConnection: Bool {
    switch self {
    case .closed, .broken: true
    default: false
    }
  }
}
