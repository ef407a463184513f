/// How a software phone comes in to play: by a signature of its device key (docs/protocol.md, "Admission").
internal import Bytes
internal import Crypto
internal import DeviceWire
package import Dialing
internal import PortcullisProtocol

extension SoftwarePhone {
  /// Any answer but 101 is `GateClientError.refused`.
  package func connect(
    fields: [GateResponse.Field] = [], subprotocols: [String] = [], offersDeflate: Bool = false
  ) throws(GateClientError) -> WebSocketClient {
    let device = try device()
    let challenge = try challenge(for: .device)
    let signature = try signing { () throws(IssuingError) in
      try keys.device.sign(
        .deviceAuth(server: challenge.server, device: device, nonce: challenge.nonce, for: .upgrade))
    }
    let own = [
      GateResponse.Field(HeaderName.deviceID, device.text),
      GateResponse.Field(HeaderName.deviceNonce, challenge.nonce.hex),
      GateResponse.Field(HeaderName.deviceSignature, signature),
    ]
    return try client.connectWebSocket(
      fields: own + fields, subprotocols: subprotocols, offersDeflate: offersDeflate)
  }
}
