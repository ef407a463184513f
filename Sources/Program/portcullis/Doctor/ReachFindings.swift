/// The part of `portcullis doctor` that finds the gate: its name's addresses, and whether each of them answers.
import Addresses
import Bytes
import Crypto
import Dialing
import Glibc
import System

struct ReachFindings {
  let url: GateURL
  let trust: ServerTrust

  /// More are no part of any gate's name; each may take its time.
  private static let mostAddresses = 8

  /// - Returns: an address at which TLS was spoken; nil where there is none.
  func look(_ report: inout DoctorReport) -> String? {
    let host = PrintableText.field(url.host, limit: 253)
    let addresses: [String]
    do throws(GateClientError) {
      addresses = Array(try TCPConnector.addresses(of: url.host).prefix(Self.mostAddresses))
    } catch {
      report.problem(
        "dns", "\(host) has no address: \(reason(error))",
        why: "no player finds the gate",
        mend: "add A and AAAA records for \(host), or wait until they have spread")
      return nil
    }
    if IPAddress(url.host) != nil {
      report.ok("dns", "\(host) is an address, no name was asked for")
    } else {
      tellFamilies(addresses, host, &report)
    }
    return connect(to: addresses, &report)
  }

  private func tellFamilies(_ addresses: [String], _ host: String, _ report: inout DoctorReport) {
    let (six, four) = (addresses.filter { $0.contains(":") }, addresses.filter { !$0.contains(":") })
    if four.isEmpty {
      report.warning(
        "dns", "\(host) has IPv6 addresses alone: \(six.joined(separator: ", "))",
        why: "clients with IPv4 alone do not reach the gate", mend: "add an A record for \(host)")
    } else {
      let note = six.isEmpty ? "; no IPv6, which NAT64 makes up for in networks without IPv4" : ""
      report.ok("dns", "\(host) is \(addresses.joined(separator: ", "))\(note)")
    }
  }

  // MARK: Connecting

  private enum Outcome {
    case speaks
    /// Nothing leads there from this host: no judgement.
    case noWay(String)
    case failed(String)
  }

  private func connect(to addresses: [String], _ report: inout DoctorReport) -> String? {
    let outcomes = addresses.map { ($0, outcome(at: $0)) }
    let speaking = outcomes.first { if case .speaks = $0.1 { true } else { false } }?.0
    for (address, outcome) in outcomes {
      let place = Endpoint("\(address):\(url.port)")?.description ?? "\(address) port \(url.port)"
      switch outcome {
      case .speaks: report.ok("reach", "\(place) speaks TLS")
      case .noWay(let reason) where speaking != nil:
        report.ok("reach", "\(place) cannot be judged from here: \(reason)")
      case .noWay(let reason), .failed(let reason):
        let mend =
          "start the gate, let port \(url.port) through firewalls, or take the address out of the name's records"
        if speaking == nil {
          report.problem("reach", "\(place): \(reason)", why: "no player gets to the gate by it", mend: mend)
        } else {
          report.warning(
            "reach", "\(place): \(reason)",
            why: "players whose network prefers it wait, or do not get in, although another address answers",
            mend: mend)
        }
      }
    }
    return speaking
  }

  private func outcome(at address: String) -> Outcome {
    do throws(GateClientError) {
      _ = try TLSProbe(of: url, at: address, trust: trust, timeout: Doctor.patience)
      return .speaks
    } catch {
      if case .unreachable(let failure) = error, failure.number == ENETUNREACH {
        return .noWay(failure.description)
      }
      return .failed(reason(error))
    }
  }

  /// The certificate that the gate shows there, whoever vouches for it.
  func pin(at address: String) -> Bytes32? {
    guard let probe = try? TLSProbe(of: url, at: address, trust: trust, timeout: Doctor.patience),
      let der = try? Certificate.contents(ofPEM: probe.chainPEM.span).first
    else { return nil }
    return SHA256.hash(der.span)
  }

  private func reason(_ error: GateClientError) -> String {
    if case .timedOut = error { return "no answer within \(Doctor.patience.components.seconds) s" }
    return PrintableText.field(error.description, limit: 300)
  }
}
