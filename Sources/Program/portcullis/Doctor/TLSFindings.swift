/// The part of `portcullis doctor` about TLS: who vouches for the certificate, until when, and which versions are spoken.
import Bytes
import Crypto
import Dialing
import Time

struct TLSFindings {
  let url: GateURL
  let trust: ServerTrust
  let address: String

  func look(_ report: inout DoctorReport) {
    guard let probe = try? probe(TLSProbe.tls12...TLSProbe.tls13) else {
      report.problem(
        "certificate", "no handshake with TLS 1.2 or 1.3", why: "players cannot connect",
        mend: "look at TLS_CERT_PATH and TLS_KEY_PATH, and run portcullis check")
      return
    }
    tellTrust(probe, &report)
    tellEnd(probe, &report)
    tellVersions(&report)
  }

  private func probe(_ versions: ClosedRange<UInt16>) throws(GateClientError) -> TLSProbe {
    try TLSProbe(of: url, at: address, trust: trust, versions: versions, timeout: Doctor.patience)
  }

  private func tellTrust(_ probe: TLSProbe, _ report: inout DoctorReport) {
    let chain = (try? CertificateSummary.all(inPEM: probe.chainPEM.span)) ?? []
    let subject = chain.first.map { PrintableText.field($0.subject, limit: 200) } ?? "no certificate"
    guard let complaint = probe.complaint else {
      report.ok("certificate", "\(subject), for \(url.host), in a chain of \(chain.count)")
      return
    }
    let mend: String
    if probe.hasExpired {
      mend = Self.renewal
    } else if probe.isNotYetValid {
      mend =
        "look at the clocks of this host and of the gate's; a certificate that begins later serves nobody before: until "
        + "then TLS_CERT_PATH has to hold another one"
    } else if chain.count == 1, !probe.isForAnotherName {
      mend =
        "TLS_CERT_PATH has to hold the certificate and behind it those of the authorities between it and the root; "
        + "of an authority of your own, name it by --ca"
    } else {
      mend =
        "get a certificate for \(PrintableText.field(url.host, limit: 253)) from an authority that phones know; of an "
        + "authority of your own, name it by --ca"
    }
    report.problem(
      "certificate", "\(subject) is not vouched for: \(complaint)",
      why: "apps refuse the connection before they have said anything", mend: mend)
  }

  /// The first of the chain to end: without it the others are worth nothing.
  private func tellEnd(_ probe: TLSProbe, _ report: inout DoctorReport) {
    let now = SystemClock().wall()
    guard let chain = try? CertificateSummary.all(inPEM: probe.chainPEM.span),
      let first = chain.min(by: { $0.notAfter < $1.notAfter })
    else { return }
    let days = (first.notAfter.milliseconds - now.milliseconds) / 86_400_000
    let subject = PrintableText.field(first.subject, limit: 200)
    let mend = Self.renewal
    if first.notAfter <= now, probe.complaint == nil, let leaf = chain.first, leaf.notAfter > now {
      report.warning(
        "certificate_end", "\(subject), which is sent along, has ended at \(first.notAfter.timestamp)",
        why: "the chain is good without it, and old phones may try their way by it",
        mend: "take it out of the file at TLS_CERT_PATH")
    } else if first.notAfter <= now {
      report.problem(
        "certificate_end", "\(subject) has ended at \(first.notAfter.timestamp)",
        why: "apps refuse the connection", mend: mend)
    } else if days < CertificateSummary.renewalDays {
      report.warning(
        "certificate_end", "\(subject) ends at \(first.notAfter.timestamp), in \(days) days",
        why: "apps refuse the connection from then on", mend: mend)
    } else {
      report.ok("certificate_end", "\(first.notAfter.timestamp), in \(days) days")
    }
  }

  private static let renewal = "renew it, replace the files, and run systemctl reload portcullis"

  private func tellVersions(_ report: inout DoctorReport) {
    let speaks13 = (try? probe(TLSProbe.tls13...TLSProbe.tls13)) != nil
    let speaks12 = (try? probe(TLSProbe.tls12...TLSProbe.tls12)) != nil
    // Each by itself: between the two a client takes a server that could do better for an attack (RFC 8446 §4.1.3).
    let old =
      (try? probe(TLSProbe.tls11...TLSProbe.tls11)) ?? (try? probe(TLSProbe.tls10...TLSProbe.tls10))
    if let old {
      let name = old.version == TLSProbe.tls10 ? "1.0" : "1.1"
      report.warning(
        "tls_versions", "TLS \(name) is spoken too",
        why: "the gate never does (RFC 8996), so something in between ends TLS, and sees what players say",
        mend:
          "have the balancer pass TLS through with PROXY headers (LISTEN_PROXY_PROTOCOL), or speak 1.2 and 1.3 alone"
      )
    }
    switch (speaks12, speaks13) {
    case (true, true): if old == nil { report.ok("tls_versions", "1.2 and 1.3, and none older") }
    case (false, true): report.ok("tls_versions", "1.3 alone, and no phone needs another")
    case (_, false):
      report.warning(
        "tls_versions", "TLS 1.3 is not spoken",
        why: "the gate speaks it, so something in between does not; handshakes take a way more",
        mend: "let the balancer speak TLS 1.3, or pass TLS through")
    }
  }
}
