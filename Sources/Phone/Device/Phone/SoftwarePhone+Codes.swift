/// How a software phone comes to the code of a login: it hears of it, attests where that was long ago, and signs.
internal import Crypto
package import DeviceWire
package import Dialing
internal import PortcullisProtocol
internal import Time

extension SoftwarePhone {
  /// - Parameter cursor: of the answer before: then the gate waits for something that came later.
  package func logins(after cursor: String? = nil) throws(GateClientError) -> OpenLogins {
    guard let open = OpenLogins(try object(.logins(after: cursor))) else {
      throw .malformedResponse("not a list of logins that can be shown as they are")
    }
    return open
  }

  /// - Parameter voucher: attests if the gate finds that the last time was too long ago.
  package func code(
    for login: OpenLogin, signals: Signals, by voucher: PhoneVoucher?
  ) throws(GateClientError) -> PhoneCode {
    do throws(GateClientError) {
      return try code(for: login, signals: signals)
    } catch {
      guard case .refused(let response) = error, let voucher,
        response.errorCode == RefusalCode.attestationStale.rawValue
      else { throw error }
      _ = try attest(by: voucher)
      // Nothing has come of what was signed: it is good still.
      return try code(for: login, signals: signals)
    }
  }

  private func code(for login: OpenLogin, signals: Signals) throws(GateClientError) -> PhoneCode {
    let device = try device()
    guard let server = state.server else {
      throw .device(.unusable(path: file.path, reason: "this phone knows no gate"))
    }
    let request = try signing { () throws(IssuingError) in
      try PhoneRequest.code(
        for: login, by: device, at: server, keys, signals: signals,
        signedAt: UnixSeconds(SystemClock().wall()))
    }
    guard let code = PhoneCode(try object(request)) else { throw .malformedResponse("not a code") }
    return code
  }
}
