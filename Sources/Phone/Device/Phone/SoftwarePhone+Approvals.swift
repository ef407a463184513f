/// What a software phone does day by day: requests that wait for its person, votes, signs of life.
package import DeviceWire
internal import Crypto
package import Dialing
internal import Time

extension SoftwarePhone {
  /// How the gate sees the phone: JSON, as it came.
  package func itself() throws(GateClientError) -> [UInt8] { try ask(.itself).body }

  /// The gate's policy for this phone: JSON, as it came.
  /// - Parameter isSigned: what is said of `rooted` counts only so.
  package func heartbeat(appVersion: String?, rooted: Bool?, isSigned: Bool) throws(GateClientError)
    -> [UInt8]
  {
    let device = try device()
    let challenge = isSigned ? try challenge(for: .device) : nil
    let request = try signing { () throws(IssuingError) in
      try PhoneRequest.heartbeat(device, keys, appVersion: appVersion, rooted: rooted, challenge)
    }
    return try ask(request).body
  }

  /// - Parameter cursor: of the answer before: then the gate waits for something that came later.
  package func approvals(after cursor: String? = nil) throws(GateClientError) -> OpenApprovals {
    guard let open = OpenApprovals(try object(.approvals(after: cursor))) else {
      throw .malformedResponse("not a list of approvals that can be shown as they are")
    }
    return open
  }

  /// What the person at the phone says to what it shows.
  package func cast(_ vote: Vote, on approval: OpenApproval) throws(GateClientError) -> VoteOutcome {
    let device = try device()
    guard let server = state.server, let key = keys.approval else {
      throw .device(.unusable(path: file.path, reason: "this phone has no approval key, and no vote"))
    }
    let request = try signing { () throws(IssuingError) in
      try PhoneRequest.vote(
        vote, on: approval, by: device, at: server, with: key, issuedAt: UnixSeconds(SystemClock().wall()))
    }
    guard let outcome = VoteOutcome(try object(request)) else { throw .malformedResponse("no state") }
    return outcome
  }
}
