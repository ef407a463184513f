/// A request about devices, from its head to the registry's answer.
internal import Bytes
internal import DeviceWire
internal import HTTPWire
internal import Registry

struct DeviceRequest: Equatable {
  let endpoint: DeviceEndpoint
  let query: DeviceQuery
  /// What the app says its version is.
  let clientVersion: String?
  var bearer: BearerToken?
  /// Of a device's token of which nobody here knows whose it is.
  var strangeToken: Bytes32?
  /// Of a device whose token is known here.
  var device: DeviceID?
  /// Of a service's request.
  var service: ServiceID?

  /// How long the answer may take while there is nothing to say.
  var wait: Duration? { query.wait }
}
