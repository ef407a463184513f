/// Which call of the registry each request about devices is.
internal import PortcullisProtocol
internal import Registry

extension Connection {
  func call(_ request: DeviceRequest, _ body: [UInt8]) throws(Refusal) -> any RegistryCall {
    throw Refusal(.notFound, step: "path")
  }
}
