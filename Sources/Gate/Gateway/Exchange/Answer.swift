/// What work beside the loop has come to: the answer to the request that asked for it.
internal import Bytes
internal import HTTPWire
internal import PortcullisProtocol

enum Answer: Sendable {
  /// The key is durable.
  case registered(KeyIdentifier)
  case refused(Refusal)
}

extension Answer {
  var response: Response {
    switch self {
    case .registered: Response(.ok, json: #"{"\#(MemberName.registered)":true}"#)
    case .refused(let refusal): refusal.response
    }
  }
}
