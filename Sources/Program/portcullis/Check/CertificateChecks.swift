/// The part of `portcullis check` that looks at certificates, keys and roots.
import AppAttest
import Bytes
import Configuration
import Crypto
import System
import TLS

struct CertificateChecks {
  let now: UnixTime
  /// False of what is left of a configuration with problems: what is not named there may only be missing.
  let isWhole: Bool

  func check(_ files: GateFiles, _ report: inout CheckReport) {
    var clientCA: [UInt8]?
    if let path = files.clientCAPath {
      clientCA = contents(path, "client_ca", &report)
      if let clientCA { checkDates(clientCA, "client_ca", &report) }
    }
    let certificate = files.certificatePath.flatMap { contents($0, "certificate", &report) }
    if let certificate {
      checkDates(certificate, "certificate", &report)
      if files.devicesPath != nil, files.nextKeyPath == nil { checkPins(certificate, &report) }
    }
    if let key = files.keyPath.flatMap({ contents($0, "key", &report) }) {
      checkKey(PrivateKeyText(copying: key.span), with: certificate, clientCA: clientCA, &report)
    }
    if isWhole, files.certificatePath == nil {
      report.warning(
        "certificate", "none is configured: one for localhost is made at each start, not for production")
    }
    checkRoot(files, &report)
  }

  private func checkDates(_ pem: [UInt8], _ name: String, _ report: inout CheckReport) {
    let certificates: [CertificateSummary]
    do {
      certificates = try CertificateSummary.all(inPEM: pem.span)
    } catch {
      report.problem(name, "cannot be read as certificates in PEM", .configuration)
      return
    }
    for certificate in certificates {
      let subject = PrintableText.field(certificate.subject, limit: 128)
      let days = (certificate.notAfter.seconds - now.seconds) / 86_400
      if now < certificate.notBefore {
        report.problem(
          name, "\(subject) is not valid before \(certificate.notBefore.timestamp)", .configuration)
      } else if now.seconds > certificate.notAfter.seconds {
        report.problem(
          name, "\(subject) expired at \(certificate.notAfter.timestamp): renew it", .configuration)
      } else if days < CertificateSummary.renewalDays {
        report.warning(
          name, "\(subject) expires in \(days) days, at \(certificate.notAfter.timestamp): renew it")
      } else {
        report.ok(name, "\(subject) is valid until \(certificate.notAfter.timestamp), \(days) days")
      }
    }
  }

  /// Phones have to hear of a key before it is in service, and some are not heard of for weeks.
  private func checkPins(_ pem: [UInt8], _ report: inout CheckReport) {
    guard let leaf = try? CertificateSummary.all(inPEM: pem.span).first else { return }
    let days = (leaf.notAfter.seconds - now.seconds) / 86_400
    guard days < CertificateSummary.renewalDays else { return }
    report.warning(
      "pins",
      "paired phones know no key but the certificate's: renew it for the same key, or name the next one in "
        + "TLS_NEXT_KEY_PATH now")
  }

  /// By itself first, as what is wrong with the certificate would hide it; then as the server would take both, whose
  /// errors name what is wrong.
  private func checkKey(
    _ key: PrivateKeyText, with certificate: [UInt8]?, clientCA: [UInt8]?, _ report: inout CheckReport
  ) {
    do {
      try TLSServerContext.check(key)
      guard let certificate else { return }
      _ = try TLSServerContext.make(
        TLSMaterial(certificateChainPEM: certificate, privateKey: key, clientCAPEM: clientCA),
        tickets: TicketKeys())
      report.ok("key", "belongs to the certificate")
    } catch {
      report.problem("key", error.description, .configuration)
    }
  }

  private func checkRoot(_ files: GateFiles, _ report: inout CheckReport) {
    guard let path = files.rootPath else {
      if isWhole { report.ok("attestation_root", "Apple's, as compiled in") }
      return
    }
    guard let pem = contents(path, "attestation_root", &report) else { return }
    do {
      let root = try AttestationRoot(pem: pem.span)
      if root.isApple {
        report.ok("attestation_root", "Apple's, from \(PrintableText.field(path))")
      } else if files.isProduction {
        report.problem(
          "attestation_root", "not Apple's (SHA-256 \(root.fingerprint.hex)): unset APPATTEST_ROOT_CA_PATH",
          .configuration)
      } else {
        report.warning(
          "attestation_root", "not Apple's (SHA-256 \(root.fingerprint.hex)): no genuine device gets in")
      }
    } catch {
      report.problem(
        "attestation_root",
        "\(PrintableText.field(path)) is no root certificate (\(error)): name a PEM file with one "
          + "P-384 CA", .configuration)
    }
  }

  private func contents(_ path: String, _ name: String, _ report: inout CheckReport) -> [UInt8]? {
    do {
      return try SystemFiles().contents(of: path, limit: 1 << 20)
    } catch {
      report.problem(name, "\(PrintableText.field(path)) cannot be read: \(error)", .configuration)
      return nil
    }
  }
}
