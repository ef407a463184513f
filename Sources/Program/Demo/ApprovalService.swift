/// The demonstration's game as a service of the gate: asks for a person's word, and waits for it on threads of its own
/// (docs/approvals.md, "One curl for an approval").
package import Dialing
internal import JSON
internal import Synchronization
internal import System

package final class ApprovalService: Sendable {
  package struct Question: Sendable {
    let operation: String
    let target: (name: String, value: String)
    let text: String
    let subject: String
    let requester: String
  }

  package enum News: Sendable {
    /// The one who has asked, and nobody else, is shown the code.
    case asked(code: String)
    case ended(state: String)
    case failed(String)
  }

  let url: GateURL
  let trust: ServerTrust
  private let token: String
  private let threads = Mutex<[JoinHandle]>([])

  package init(url: GateURL, trust: ServerTrust, token: String) {
    self.url = url
    self.trust = trust
    self.token = token
  }

  /// - Parameter tell: called on another thread.
  package func ask(_ question: Question, tell: @escaping @Sendable (News) -> Void) {
    work("approval", otherwise: { tell(.failed($0)) }) { service throws(GateClientError) in
      try service.wait(for: question, tell)
    }
  }

  /// On a thread of its own.
  /// - Parameter otherwise: is told why it came to nothing.
  func work(
    _ name: String, otherwise: @escaping @Sendable (String) -> Void,
    _ body: @escaping @Sendable (ApprovalService) throws(GateClientError) -> Void
  ) {
    do throws(SystemError) {
      let thread = JoinHandle(
        try Thread(name: name) {
          do throws(GateClientError) { try body(self) } catch { otherwise(error.description) }
        })
      threads.withLock { $0.append(thread) }
    } catch {
      otherwise(error.description)
    }
  }

  /// Waits for those who still wait, which a gate that drains answers at once.
  package func stop() {
    let threads = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    for thread in threads { thread.join() }
  }

  private func wait(for question: Question, _ tell: (News) -> Void) throws(GateClientError) {
    let client = try GateClient(url, trust: trust)
    let asked = try object(
      client.send(
        method: "POST", path: "/approvals", fields: fields + [.init("Content-Type", "application/json")],
        body: form(question)), status: 201)
    guard let id = asked["id"]?.string else { throw .malformedResponse("no id") }
    tell(.asked(code: asked["match_code"]?.string ?? "nothing"))
    while true {
      let result = try object(
        client.send(
          method: "GET", path: "/approvals/\(id)?wait=25", fields: fields, wait: .seconds(25)), status: 200)
      guard let state = result["state"]?.string else { throw .malformedResponse("no state") }
      if state != "pending" { return tell(.ended(state: state)) }
    }
  }

  var fields: [GateResponse.Field] { [GateResponse.Field("Authorization", "Bearer \(token)")] }

  func object(_ response: GateResponse, status: Int) throws(GateClientError) -> JSONObject {
    guard response.status == status else { throw .refused(response) }
    guard let object = (try? JSONValue(parsing: response.body.span, depthLimit: 16))?.object else {
      throw .malformedResponse("not a JSON object")
    }
    return object
  }

  private func form(_ question: Question) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("operation")
    writer.value(question.operation)
    writer.name("target")
    writer.beginObject()
    writer.name(question.target.name)
    writer.value(question.target.value)
    writer.endObject()
    writer.name("text")
    writer.value(question.text)
    writer.name("subject")
    writer.value(question.subject)
    writer.name("requester")
    writer.beginObject()
    writer.name("id")
    writer.value(question.requester)
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }
}
