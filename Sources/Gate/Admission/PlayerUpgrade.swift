/// An upgrade with what it says of the session it wants: the subprotocol, the app, and the session to go on with
/// (docs/sessions.md).
package import HTTPWire
internal import PortcullisProtocol
package import SessionWire
internal import TelnetWire
package import WebSocketWire

package struct PlayerUpgrade {
  package let request: UpgradeRequest
  package let choice: SubprotocolChoice
  /// Nil unless the app has said it here.
  package let client: ClientHeader?
  package let resume: ResumeRequest?
  package let origin: String?
  /// The app wants nothing compressed on this connection, whatever its WebSocket library has offered.
  package let declinesCompression: Bool

  package init(_ head: RequestHead, allowing policy: SubprotocolPolicy) throws(Refusal) {
    do throws(UpgradeRefusal) {
      request = try UpgradeRequest(head)
    } catch {
      throw Refusal(error.code, step: error.step)
    }
    origin = head.value("Origin")
    choice = policy.choose(from: request.subprotocols)
    if choice == .refused { throw Refusal(.badRequest, step: "subprotocol") }
    declinesCompression = try Self.declinesCompression(head)
    // Of no other subprotocol are these fields: what stands in them means nothing there.
    guard choice.dialect == .portcullis else {
      client = nil
      resume = nil
      return
    }
    client = try Self.client(head)
    resume = try Self.resume(head)
  }

  private static func declinesCompression(_ head: RequestHead) throws(Refusal) -> Bool {
    guard let value = head.valueBytes(HeaderName.compression) else { return false }
    do throws(UpgradeHeaderError) {
      return try CompressionHeader(parsing: value.span) == .off
    } catch {
      throw Refusal(.badRequest, step: error.step)
    }
  }

  private static func client(_ head: RequestHead) throws(Refusal) -> ClientHeader? {
    guard let value = head.valueBytes(HeaderName.client) else { return nil }
    do throws(UpgradeHeaderError) {
      return try ClientHeader(parsing: value.span)
    } catch {
      throw Refusal(.badRequest, step: error.step)
    }
  }

  private static func resume(_ head: RequestHead) throws(Refusal) -> ResumeRequest? {
    guard let value = head.valueBytes(HeaderName.resume) else { return nil }
    do throws(UpgradeHeaderError) {
      return try ResumeRequest(parsing: value.span)
    } catch {
      throw Refusal(.badRequest, step: error.step)
    }
  }
}
