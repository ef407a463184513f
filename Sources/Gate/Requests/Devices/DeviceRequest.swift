/// A request about devices, from its head to the registry's answer.
package import Bytes
package import DeviceWire
package import HTTPWire
package import Registry

package struct DeviceRequest: Equatable {
  package let endpoint: DeviceEndpoint
  package let query: DeviceQuery
  /// What the app says its version is.
  package let clientVersion: String?
  package var bearer: BearerToken?
  /// Of a device's token of which nobody here knows whose it is.
  package var strangeToken: Bytes32?
  /// Of a device whose token is known here.
  package var device: DeviceID?
  /// Of a service's request.
  package var service: ServiceID?

  package init(endpoint: DeviceEndpoint, query: DeviceQuery, clientVersion: String?) {
    self.endpoint = endpoint
    self.query = query
    self.clientVersion = clientVersion
  }

  /// The bearer's; empty without one.
  package var token: String { bearer?.text ?? "" }

  /// How long the answer may take while there is nothing to say.
  package var wait: Duration? { query.wait }
}
