/// Certificate, key and client CA as their files have them, or all that is wrong with them: one judgement and one text for
/// `serve`, for a reload and for `check` (docs/settings.md, "Problems").
import Bytes
package import Configuration
import Crypto
import Prompt
import System
package import TLS

package struct TLSFiles {
  package let files: GateFiles
  package let tell: (Part, String) -> Void

  /// What a problem is about, as `check` labels it.
  package enum Part: String {
    case certificate, key
    case clientCA = "client_ca"
  }

  package init(_ files: GateFiles, tell: @escaping (Part, String) -> Void) {
    self.files = files
    self.tell = tell
  }

  /// All that is wrong is told before it gives up.
  package func read() throws -> TLSContents {
    var isRead = true
    func unlessTold<Part>(_ read: () throws -> Part) -> Part? {
      do { return try read() } catch {
        isRead = false
        return nil
      }
    }
    let clientCA = files.clientCAPath.flatMap { path in unlessTold { try clientCAContents(path) } }
    let chain = files.certificatePath.flatMap { path in
      unlessTold { try contents(of: path, .certificate, "TLS_CERT_PATH") }
    }
    let key = files.keyPath.flatMap { path in unlessTold { try keyContents(path) } }
    let isChain = chain.map { chain in unlessTold { try checkChain(chain, key) } != nil } ?? false
    let isKey = key.map { key in unlessTold { try checkKey(key, isChain: isChain) } != nil } ?? false
    var material: TLSMaterial?
    if let chain, let key, isChain, isKey {
      let pair = TLSMaterial(certificateChainPEM: chain, privateKey: key, clientCAPEM: clientCA)
      material = unlessTold {
        try checkPair(pair)
        return pair
      }
    }
    guard isRead else { throw ExitStatus.configuration }
    return TLSContents(
      material: material, clientCA: clientCA,
      minimumVersion: files.minimumTLSVersion == .tls12 ? .tls12 : .tls13)
  }

  // MARK: Each by itself

  /// What is wrong with one would hide what is wrong with another.
  private func checkChain(_ chain: [UInt8], _ key: PrivateKeyText?) throws {
    if (try? CertificateSummary.all(inPEM: chain.span)) != nil { return }
    guard Self.holdsKey(PrivateKeyText(copying: chain.span)) else {
      throw refusal(
        .certificate, "\(certificate) holds no certificates; name a PEM file, the server's certificate first")
    }
    if let key, Self.holdsCertificate(key) {
      throw refusal(.certificate, "\(certificate) and \(self.key) seem to be swapped: exchange the two paths")
    }
    throw refusal(
      .certificate, "\(certificate) holds a private key and no certificate; name the file of its certificate")
  }

  private func checkKey(_ key: PrivateKeyText, isChain: Bool) throws {
    do throws(TLSConfigurationError) {
      try TLSServerContext.check(key)
    } catch {
      guard Self.holdsCertificate(key) else { throw refusalOfKey(error) }
      // Told with the certificate, whose place it has.
      if !isChain { throw ExitStatus.configuration }
      throw refusal(
        .key, "\(self.key) holds a certificate and no private key; name the file of the certificate's key")
    }
  }

  private func clientCAContents(_ path: String) throws -> [UInt8] {
    let pem = try contents(of: path, .clientCA, "MTLS_CLIENT_CA_PATH")
    guard (try? CertificateSummary.all(inPEM: pem.span)) != nil else {
      throw refusalOfClientCA(.clientCAUnreadable(reason: "it holds no certificates"))
    }
    return pem
  }

  private static func holdsKey(_ text: PrivateKeyText) -> Bool { (try? TLSServerContext.check(text)) != nil }

  /// Of a text that holds no private key, which is no secret then.
  private static func holdsCertificate(_ text: PrivateKeyText) -> Bool { text.holdsCertificate }

  // MARK: Both together

  private func checkPair(_ pair: TLSMaterial) throws {
    do throws(TLSConfigurationError) {
      _ = try TLSServerContext.make(pair, tickets: TicketKeys())
    } catch {
      switch error {
      case .certificateUnreadable:
        throw refusal(
          .certificate, "\(certificate): \(error); name a PEM file, the server's certificate first")
      case .keyUnreadable: throw refusalOfKey(error)
      case .keyDoesNotMatch:
        throw refusal(.key, "\(key), \(certificate): \(error); name the two files of one pair")
      case .certificateNotFirst(let position, let isAuthority):
        throw refusal(.certificate, words(position, isAuthority, pair))
      case .clientCAUnreadable: throw refusalOfClientCA(error)
      case .refused: throw refusal(.certificate, "\(certificate): TLS: \(error); name another pair")
      }
    }
  }

  private func words(_ position: Int, _ isAuthority: Bool, _ pair: TLSMaterial) -> String {
    let all = (try? CertificateSummary.all(inPEM: pair.certificateChainPEM.span)) ?? []
    let subjects = all.map { PrintableText.field($0.subject, limit: 128) }
    guard let first = subjects.first, subjects.indices.contains(position) else {
      return "\(certificate): put the certificate of \(key) first"
    }
    return "\(certificate) begins with \(first)\(isAuthority ? ", an authority" : ""), and \(key) belongs to "
      + "\(subjects[position]); put \(subjects[position]) first"
  }

  // MARK: Words

  private var certificate: String { "TLS_CERT_PATH=\(PrintableText.field(files.certificatePath ?? ""))" }
  private var key: String { "TLS_KEY_PATH=\(PrintableText.field(files.keyPath ?? ""))" }

  private func refusalOfKey(_ error: TLSConfigurationError) -> ExitStatus {
    refusal(.key, "\(key): \(error); name the PEM file of the certificate's key, without a pass phrase")
  }

  private func refusalOfClientCA(_ error: TLSConfigurationError) -> ExitStatus {
    refusal(
      .clientCA,
      "MTLS_CLIENT_CA_PATH=\(PrintableText.field(files.clientCAPath ?? "")): \(error); name a PEM file of CA certificates"
    )
  }

  private func keyContents(_ path: String) throws -> PrivateKeyText {
    do throws(SystemError) {
      return try PrivateKeyText.read(path, limit: 1 << 20)
    } catch {
      throw refusal(.key, "\(key) cannot be read: \(error); correct the path or the file's owner and mode")
    }
  }

  private func contents(of path: String, _ part: Part, _ setting: String) throws -> [UInt8] {
    do throws(SystemError) {
      return try SystemFiles().contents(of: path, limit: 1 << 20)
    } catch {
      throw refusal(
        part,
        "\(setting)=\(PrintableText.field(path)) cannot be read: \(error); correct the path or the file's owner and mode"
      )
    }
  }

  private func refusal(_ part: Part, _ text: String) -> ExitStatus {
    tell(part, text)
    return ExitStatus.configuration
  }
}

/// What the files of certificates hold.
package struct TLSContents {
  /// Nil where none are named.
  package let material: TLSMaterial?
  let clientCA: [UInt8]?
  let minimumVersion: TLSVersion
}
