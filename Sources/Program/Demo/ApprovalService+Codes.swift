/// The demonstration's game where a player comes without the gate: asks for a one-time code, and whether the one that was
/// typed is it (docs/codes.md, "One-time codes").
internal import Dialing
internal import JSON
internal import PortcullisProtocol

extension ApprovalService {
  enum CodeNews: Sendable {
    /// By this name the code is asked about.
    case asked(challenge: String)
    case passed
    case wrong
    case failed(String)
  }

  /// - Parameter login: the game's own name for this login.
  func askForCode(of subject: String, login: String, tell: @escaping @Sendable (CodeNews) -> Void) {
    work("code", otherwise: { tell(.failed($0)) }) { service throws(GateClientError) in
      let asked = try service.post(
        "/auth/otp/challenge",
        [("subject", subject), ("login_id", login), ("text", "Login by telnet to the Tiny MUD")])
      guard let challenge = asked["challenge_id"]?.string else {
        throw .malformedResponse("no challenge_id")
      }
      tell(.asked(challenge: challenge))
    }
  }

  func verify(
    _ code: String, for challenge: String, login: String, tell: @escaping @Sendable (CodeNews) -> Void
  ) {
    work("code", otherwise: { tell(.failed($0)) }) { service throws(GateClientError) in
      do throws(GateClientError) {
        _ = try service.post(
          "/auth/otp/verify", [("challenge_id", challenge), ("login_id", login), ("otp_code", code)])
        tell(.passed)
      } catch {
        guard case .refused(let response) = error,
          response.errorCode == RefusalCode.codeRejected.rawValue
        else { throw error }
        tell(.wrong)
      }
    }
  }

  private func post(
    _ path: String, _ members: [(name: String, text: String)]
  ) throws(GateClientError) -> JSONObject {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, text) in members {
      writer.name(name)
      writer.value(text)
    }
    writer.endObject()
    return try object(
      GateClient(url, trust: trust).send(
        method: "POST", path: path, fields: fields + [.init("Content-Type", "application/json")],
        body: writer.bytes), status: 200)
  }
}
