/// An upgrade with what it says of the session it wants: the subprotocol, the app, and the session to go on with
/// (docs/sessions.md).
internal import HTTPWire
internal import PortcullisProtocol
internal import SessionWire
internal import TelnetWire
internal import WebSocketWire

struct PlayerUpgrade {
  let request: UpgradeRequest
  let choice: SubprotocolChoice
  /// Nil unless the app has said it here.
  let client: ClientDescription?
  let resume: ResumeRequest?

  init(_ head: RequestHead, allowing policy: SubprotocolPolicy) throws(Refusal) {
    do throws(UpgradeRefusal) {
      request = try UpgradeRequest(head)
    } catch {
      throw Refusal(error.code, step: error.step)
    }
    choice = policy.choose(from: request.subprotocols)
    if choice == .refused { throw Refusal(.badRequest, step: "subprotocol") }
    // Of no other subprotocol are these fields: what stands in them means nothing there.
    guard choice.dialect == .portcullis else {
      client = nil
      resume = nil
      return
    }
    client = try Self.client(head)
    resume = try Self.resume(head)
  }

  private static func client(_ head: RequestHead) throws(Refusal) -> ClientDescription? {
    guard let value = head.valueBytes(HeaderName.client) else { return nil }
    do throws(ClientHeaderError) {
      return try ClientUpdate(header: value.span).applied(to: nil)
    } catch {
      throw Refusal(.badRequest, step: "client_header")
    }
  }

  private static func resume(_ head: RequestHead) throws(Refusal) -> ResumeRequest? {
    guard let value = head.valueBytes(HeaderName.resume) else { return nil }
    guard let resume = ResumeRequest(header: value.span) else { throw Refusal(.badRequest, step: "resume_header") }
    return resume
  }
}
