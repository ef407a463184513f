/// A request's body as it comes: framed by its length or in chunks (RFC 9112 §6), and counted among the bodies of all.
package import Admission
internal import Bytes
package import HTTPWire
package import PortcullisProtocol
internal import System
package import Time

package final class IncomingBody {
  package enum Refusal: Error, Equatable {
    case chunks(ChunkedDecoder.Violation)
    /// It had to make room for others, or there is none for it.
    case dropped

    package var code: RefusalCode {
      switch self {
      case .chunks(let violation): violation.code
      case .dropped: .overloaded
      }
    }

    package var step: String {
      switch self {
      case .chunks(let violation): violation.step
      case .dropped: "bodies_in_flight"
      }
    }
  }

  private enum Framing {
    case left(Int)
    case chunks(ChunkedDecoder)
  }

  private var framing: Framing
  private let charge: BodyCharge
  private var bytes: [UInt8] = []

  /// - Parameter limit: `HTTP_BODY_MAX_BYTES`; a length beyond it has been refused.
  package init(_ head: RequestHead, limit: Int, charge: BodyCharge) {
    framing = head.isChunked ? .chunks(ChunkedDecoder(limit: limit)) : .left(head.bodyLength ?? 0)
    self.charge = charge
  }

  package enum Taking {
    case needMore(consumed: Int)
    case whole([UInt8], consumed: Int)
    case refused(Refusal)
  }

  /// Takes what of `received` belongs to the body, and pays for it.
  package func take(_ received: Span<UInt8>, now: MonotonicTime) -> Taking {
    do throws(Refusal) {
      let (consumed, isWhole) = try read(received)
      guard charge.hold(bytes.count, now: now) else { throw .dropped }
      guard isWhole else { return .needMore(consumed: consumed) }
      guard charge.complete() else { throw .dropped }
      defer { bytes = [] }
      return .whole(bytes, consumed: consumed)
    } catch {
      return .refused(error)
    }
  }

  private func read(_ received: Span<UInt8>) throws(Refusal) -> (consumed: Int, isWhole: Bool) {
    switch framing {
    case .left(let left):
      let consumed = min(left, received.count)
      bytes.append(copying: received.extracting(0..<consumed))
      framing = .left(left - consumed)
      return (consumed, consumed == left)
    case .chunks(var decoder):
      let consumed: Int
      do throws(ChunkedDecoder.Violation) {
        consumed = try decoder.decode(received, into: &bytes)
      } catch {
        throw .chunks(error)
      }
      framing = .chunks(decoder)
      return (consumed, decoder.isWhole)
    }
  }
}
