/// The part of `portcullis check` that looks at certificates, keys and roots.
import AppAttest
import Assembly
import Bytes
package import Configuration
import Crypto
import Prompt
internal import System
package import Time
import TLS

package struct CertificateChecks {
  package let now: UnixTime
  /// False of what is left of a configuration with problems: what is not named there may only be missing.
  package let isWhole: Bool

  package init(now: UnixTime, isWhole: Bool) {
    self.now = now
    self.isWhole = isWhole
  }

  package func check(_ files: GateFiles, _ report: inout CheckReport) {
    var told: [(part: TLSFiles.Part, text: String)] = []
    let contents = try? TLSFiles(files) { told.append(($0, $1)) }.read()
    for (part, text) in told { report.problem(part.rawValue, text, .configuration) }
    if let path = files.clientCAPath { checkDates(path, "client_ca", "MTLS_CLIENT_CA_PATH", &report) }
    if let path = files.certificatePath {
      checkDates(path, "certificate", "TLS_CERT_PATH", &report)
      if files.devicesPath != nil, files.nextKeyPath == nil { checkPins(path, &report) }
    }
    if contents?.material != nil { report.ok("key", "belongs to the certificate") }
    if isWhole, files.certificatePath == nil {
      report.warning(
        "certificate", "none is configured: one for localhost is made at each start, not for production")
    }
    checkRoot(files, &report)
  }

  /// A gate starts with a certificate out of its time: to refuse would take away those who play as well. Apps refuse it, so
  /// it is never well either.
  private func checkDates(_ path: String, _ name: String, _ setting: String, _ report: inout CheckReport) {
    // What cannot be read has been told.
    guard let all = Self.certificates(path) else { return }
    for certificate in all {
      let subject = PrintableText.field(certificate.subject, limit: 128)
      let named = "\(setting)=\(PrintableText.field(path)): \(subject)"
      let days = (certificate.notAfter.seconds - now.seconds) / 86_400
      let consequence =
        name == "certificate"
        ? "the gate serves with it, and apps refuse it" : "no client certificate of it is taken"
      let remedy =
        "put a renewed one in its place and reload the gate (systemctl reload portcullis, or SIGHUP)"
      if now < certificate.notBefore {
        report.warning(
          name,
          "\(named) is not valid before \(certificate.notBefore.timestamp): \(consequence) until then; set the clock of "
            + "this host, or name the certificate that is valid now")
      } else if now.seconds > certificate.notAfter.seconds {
        report.warning(
          name, "\(named) expired at \(certificate.notAfter.timestamp): \(consequence); \(remedy)")
      } else if days < CertificateSummary.renewalDays {
        report.warning(
          name, "\(named) expires in \(days) days, at \(certificate.notAfter.timestamp): \(remedy)")
      } else {
        report.ok(name, "\(subject) is valid until \(certificate.notAfter.timestamp), \(days) days")
      }
    }
  }

  private static func certificates(_ path: String) -> [CertificateSummary]? {
    guard let pem = try? SystemFiles().contents(of: path, limit: 1 << 20) else { return nil }
    return try? CertificateSummary.all(inPEM: pem.span)
  }

  /// Phones have to hear of a key before it is in service, and some are not heard of for weeks.
  private func checkPins(_ path: String, _ report: inout CheckReport) {
    guard let leaf = Self.certificates(path)?.first else { return }
    let days = (leaf.notAfter.seconds - now.seconds) / 86_400
    guard days < CertificateSummary.renewalDays else { return }
    report.warning(
      "pins",
      "paired phones know no key but the certificate's: renew it for the same key, or name the next one in "
        + "TLS_NEXT_KEY_PATH now")
  }

  private func checkRoot(_ files: GateFiles, _ report: inout CheckReport) {
    var told: [String] = []
    let root = try? Startup.attestationRoot(files) { told.append($0) }
    for text in told { report.problem("attestation_root", text, .configuration) }
    guard let root else { return }
    guard let path = files.rootPath else {
      if isWhole { report.ok("attestation_root", "Apple's, as compiled in") }
      return
    }
    if root.isApple {
      report.ok("attestation_root", "Apple's, from \(PrintableText.field(path))")
    } else {
      report.warning(
        "attestation_root", "not Apple's (SHA-256 \(root.fingerprint.hex)): no genuine device gets in")
    }
  }
}
