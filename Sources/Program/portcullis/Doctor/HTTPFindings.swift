/// The part of `portcullis doctor` that asks: the clock, whether the gate is well, a challenge, and an upgrade that has to be
/// refused.
import Bytes
import Dialing
import JSON
import PortcullisProtocol
import System
import Time

struct HTTPFindings {
  let url: GateURL
  let address: String
  /// What the gate shows there: whom to trust is another finding.
  let certificate: Bytes32?

  func look(_ report: inout DoctorReport) {
    guard let certificate,
      let client = try? GateClient(
        url, trust: .pin(certificate), address: address, timeout: Doctor.patience)
    else { return }
    health(client, &report)
    challenge(client, &report)
    upgrade(client, &report)
  }

  // MARK: Health and clock

  private func health(_ client: GateClient, _ report: inout DoctorReport) {
    let asked = SystemClock().wall()
    let response: GateResponse
    do throws(GateClientError) {
      response = try client.get("/healthz")
    } catch {
      report.problem(
        "health", "no answer to /healthz: \(text(error))",
        why: "nothing behind this address speaks HTTP as the gate does",
        mend: "see what listens there; run portcullis check --health on the gate's host")
      return
    }
    tellClock(response, asked: asked, &report)
    switch (response.status, response.errorCode) {
    case (200, nil): report.ok("health", "the gate is well")
    case (503, RefusalCode.shuttingDown.rawValue?):
      report.warning(
        "health", "the gate drains", why: "new players are refused",
        mend: "portcullis drain --off, or start it again")
    default:
      report.problem(
        "health", "/healthz is answered \(answer(response))",
        why: "load balancers take the gate for dead, or it is not the gate that answers",
        mend: "run portcullis check --health on the gate's host, and look at what stands in between")
    }
  }

  /// A challenge's time and the time of an approval are the gate's; phones compare them with their own.
  private func tellClock(_ response: GateResponse, asked: UnixTime, _ report: inout DoctorReport) {
    guard let text = response["Date"], let date = UnixTime(httpDate: text) else {
      report.warning(
        "clock", "the answer has no Date",
        why: "the gate's always has one: something in between takes it out",
        mend: "let the balancer pass fields on")
      return
    }
    // Seconds are all that a Date has, and the answer took a while.
    let after = SystemClock().wall()
    let seconds =
      date < asked
      ? (date.milliseconds - asked.milliseconds) / 1000
      : max(0, date.milliseconds - after.milliseconds) / 1000
    let found = "the gate's clock is \(abs(seconds)) s \(seconds < 0 ? "behind" : "ahead of") this one's"
    let mend = "see timedatectl on both hosts, and let NTP set them"
    switch abs(seconds) {
    case 0...Self.tolerableSeconds: report.ok("clock", "as here, within \(Self.tolerableSeconds) s")
    case ...Self.bearableSeconds:
      report.warning("clock", found, why: "codes and approvals live for a minute or two by it", mend: mend)
    default:
      report.problem(
        "clock", found,
        why: "certificates and challenges are judged by it, and phones are told to set theirs",
        mend: mend)
    }
  }

  private static let tolerableSeconds: Int64 = 5
  private static let bearableSeconds: Int64 = 60

  // MARK: A challenge

  private func challenge(_ client: GateClient, _ report: inout DoctorReport) {
    let response: GateResponse
    do throws(GateClientError) {
      response = try client.get("/attest/challenge")
    } catch {
      report.problem(
        "challenge", "no answer: \(text(error))", why: "no app can prove itself",
        mend: "look at the gate's log")
      return
    }
    switch response.status {
    case 200:
      let object = (try? JSONValue(parsing: response.body.span, depthLimit: 4))?.object
      guard let nonce = object?["nonce"]?.string, Bytes32(hex: nonce) != nil else {
        report.problem(
          "challenge", "an answer without a nonce", why: "it is not the gate that answers",
          mend: "look at what stands in between")
        return
      }
      report.ok("challenge", "one was issued")
    case 404:
      report.warning(
        "challenge", "there is no /attest/challenge", why: "no app is set up: nobody can register",
        mend: "set APPATTEST_TEAM_ID and APPATTEST_BUNDLE_ID")
    case 429:
      report.warning(
        "challenge", "this address has asked too often", why: "players behind it wait as well",
        mend: "wait, or set CHALLENGE_RATE higher; behind a balancer set TRUSTED_PROXIES")
    default:
      report.problem(
        "challenge", "answered \(answer(response))", why: "no app can prove itself",
        mend: "look at the gate's log, and portcullis stats")
    }
  }

  // MARK: An upgrade without a credential

  private func upgrade(_ client: GateClient, _ report: inout DoctorReport) {
    do throws(GateClientError) {
      _ = try client.connectWebSocket()
      report.problem(
        "upgrade", "a client without any credential was let in",
        why: "anybody with a WebSocket gets to the game", mend: "set REQUIRE_APP_AUTH=true, and restart")
    } catch {
      guard case .refused(let response) = error else {
        report.problem(
          "upgrade", "no answer: \(text(error))", why: "players cannot begin", mend: "look at the gate's log")
        return
      }
      tellRefusal(response, &report)
    }
  }

  private func tellRefusal(_ response: GateResponse, _ report: inout DoctorReport) {
    guard let code = response.errorCode.flatMap({ RefusalCode(rawValue: $0) }) else {
      report.problem(
        "upgrade", "refused with \(response.status), and without \(HeaderName.error)",
        why:
          "apps read in that field whether to register or to wait; something in between has answered, or takes it out",
        mend: "have the balancer pass upgrades and fields on")
      return
    }
    switch code {
    case .assertionRequired:
      report.ok("upgrade", "refused as it should be: \(response.status) \(code.rawValue)")
    case .upgradeRequired:
      report.problem(
        "upgrade", "the gate has seen no upgrade: \(response.status) \(code.rawValue)",
        why: "no WebSocket comes through",
        mend: "have the proxy pass Connection and Upgrade on, and speak HTTP/1.1 to the gate")
    case .shuttingDown:
      report.warning(
        "upgrade", "the gate drains: \(code.rawValue)", why: "new players are refused",
        mend: "portcullis drain --off")
    default:
      report.problem(
        "upgrade", "refused with \(response.status) \(code.rawValue)", why: "players would be as well",
        mend: "docs/errors.md says what \(code.rawValue) means; the gate's log has the step")
    }
  }

  // MARK: Words

  private func text(_ error: GateClientError) -> String { PrintableText.field(error.description, limit: 300) }

  private func answer(_ response: GateResponse) -> String {
    "\(response.status)" + (response.errorCode.map { " " + PrintableText.field($0, limit: 64) } ?? "")
  }
}

extension UnixTime {
  /// IMF-fixdate (RFC 9110 §5.6.7), the one form that is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
  init?(httpDate text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
      return nil
    }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    self.init(timestamp: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
  }
}
