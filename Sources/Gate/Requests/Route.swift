/// Where a request goes (docs/protocol.md, "HTTP").
package import Admission
package import HTTPWire
internal import PortcullisProtocol

package enum Route: Equatable {
  case health
  case challenge
  /// A request with a body, which is worked on beside the loop.
  case body(BodyEndpoint)
  /// Any other path: a WebSocket upgrade, or not.
  case upgrade
  case notFound
  case methodNotAllowed(allow: String)

  /// - Parameters:
  ///   - attests: whether any app id is configured; else nothing below `/attest/` exists.
  ///   - hasDevices: whether there are devices, which ask for challenges as well.
  package init(_ head: RequestHead, attests: Bool, hasDevices: Bool = false) {
    let isGet = head.method == .get
    if head.pathIs(EndpointPath.health) {
      self = isGet ? .health : .methodNotAllowed(allow: "GET")
    } else if attests || hasDevices, head.pathIs(EndpointPath.challenge) {
      self = isGet ? .challenge : .methodNotAllowed(allow: "GET")
    } else if attests, head.pathIs(EndpointPath.register) {
      self = head.method == .post ? .body(.register) : .methodNotAllowed(allow: "POST")
    } else if head.pathBegins(with: EndpointPath.attestPrefix) {
      self = .notFound
    } else {
      self = isGet ? .upgrade : .methodNotAllowed(allow: "GET")
    }
  }
}

/// Those whose requests have a JSON body.
package enum BodyEndpoint: Equatable {
  /// `POST /attest/register`.
  case register
  /// Also without a body, where the registry is asked.
  case device(DeviceRequest)
  /// An upgrade by a device that may not come in, of which the registry says why.
  case standing

  /// To which part of the pool its body is charged, and to whom where that is not the address.
  package var bodyPart: (part: BodyPart, owner: BodyOwner?) {
    guard case .device(let request) = self else { return (.anybody, nil) }
    if let service = request.service { return (.known, .service(service)) }
    if let device = request.device { return (.known, .device(device)) }
    return (request.endpoint.row.strangers, nil)
  }
}
