/// The name of a request about devices: the client's own, or a new one.
internal import Bytes
package import HTTPWire
package import Time

extension TraceID {
  package init(_ head: RequestHead, entropy: any Entropy) {
    guard let trace = TraceID(head) ?? TraceID(Hex.encode(entropy.bytes(8).span)) else {
      fatalError("hexadecimal digits are a token")
    }
    self = trace
  }
}
