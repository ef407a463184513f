/// Everything that a gate and its clients need for development, made afresh into one folder
/// (docs/running.md, "Commands").
package import Addresses
internal import Bytes
internal import Crypto
package import Dialing
internal import System
package import Time

package struct DevelopmentCertificates {
  /// In the order in which they are listed to the user.
  package let files: [DevelopmentFile]

  /// For reading; which setting each belongs to is `portcullis dev-certs --help`'s to say.
  package enum FileName {
    package static let serverAuthority = "ca.pem"
    package static let serverAuthorityKey = "ca-key.pem"
    package static let server = "server.pem"
    package static let serverKey = "server-key.pem"
    package static let clientAuthority = "client-ca.pem"
    package static let clientAuthorityKey = "client-ca-key.pem"
    package static let client = "client.pem"
    package static let clientKey = "client-key.pem"
    package static let clientBundle = "client.p12"
  }

  /// iOS takes server certificates of at most 825 days from authorities that the user has installed, and 398
  /// from all others; what suits both is renewed once a year.
  private static let leafDays: Int64 = 397
  private static let authorityDays: Int64 = 3650

  /// A name or an address that the server's certificate is for, beside localhost and the loopback addresses.
  package enum ServerName: Equatable, Sendable {
    case dns(String)
    case address(IPAddress)

    /// Nil unless it is an address or a host name of letters, digits and hyphens (RFC 1123 §2.1), which may
    /// begin with `*.`.
    package init?(_ text: String) {
      if let address = IPAddress(text) {
        self = .address(address)
        return
      }
      let name = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
      let labels = name.split(separator: ".", omittingEmptySubsequences: false)
      let isName = labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
          && label.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
            default: false
            }
          }
      }
      guard isName, name.utf8.count <= 253 else { return nil }
      self = .dns(text.lowercased())
    }

    fileprivate var alternativeName: CertificateExtension.AlternativeName {
      switch self {
      case .dns(let name): .dns(name)
      case .address(let address): .address(address.networkBytes)
      }
    }
  }

  // MARK: Making

  /// New keys and certificates, not written anywhere yet.
  /// - Parameter password: of the PKCS #12 file.
  package static func make(
    names: [ServerName], password: String, now: UnixTime
  ) throws(DeviceError) -> DevelopmentCertificates {
    do throws(IssuingError) {
      let serverAuthority = try Authority("Portcullis Development Server CA", now)
      let server = try serverAuthority.issue(
        "localhost", CertificateExtension.serverAuthentication,
        CertificateExtension.AlternativeName.loopback + names.map(\.alternativeName), now)
      let clientAuthority = try Authority("Portcullis Development Client CA", now)
      let client = try clientAuthority.issue(
        "Portcullis development client", CertificateExtension.clientAuthentication, [], now)
      let bundle = try PKCS12Bundle.encode(
        client.key, client.certificate, authorities: [clientAuthority.certificate],
        name: "Portcullis development client", password: password)
      let files = [
        DevelopmentFile(FileName.serverAuthority, serverAuthority.certificate.pem),
        DevelopmentFile(FileName.serverAuthorityKey, try serverAuthority.key.pem(), isSecret: true),
        DevelopmentFile(FileName.server, server.certificate.pem),
        DevelopmentFile(FileName.serverKey, try server.key.pem(), isSecret: true),
        DevelopmentFile(FileName.clientAuthority, clientAuthority.certificate.pem),
        DevelopmentFile(FileName.clientAuthorityKey, try clientAuthority.key.pem(), isSecret: true),
        DevelopmentFile(FileName.client, client.certificate.pem),
        DevelopmentFile(FileName.clientKey, try client.key.pem(), isSecret: true),
        DevelopmentFile(FileName.clientBundle, bundle, isSecret: true),
      ]
      return DevelopmentCertificates(
        files: files + (try TestAttestationAuthority.create(now: now).files())
          + (try TestPlayService.create().files())
          + (try TestAndroidAuthority.create(now: now).files()))
    } catch {
      throw .issuing(error)
    }
  }

  // MARK: Writing

  /// Writes all files into `folder`, which is made when missing.
  /// - Parameter overwriting: without it, one file that is there already stops the whole, before anything is
  ///   written.
  package func write(to folder: String, overwriting: Bool) throws(DeviceError) {
    let existing = files.map { "\(folder)/\($0.name)" }.filter(WholeFile.exists)
    guard overwriting || existing.isEmpty else { throw .exists(paths: existing) }
    do throws(SystemError) {
      try WholeFile.makeFolder(folder)
      for file in files {
        try WholeFile.write(
          file.bytes, to: "\(folder)/\(file.name)", mode: file.mode, overwriting: overwriting)
      }
    } catch {
      throw .file(error)
    }
  }

  private struct Issued: ~Copyable {
    let certificate: IssuedCertificate
    let key: SigningKey
  }

  private struct Authority: ~Copyable {
    let certificate: IssuedCertificate
    let key: SigningKey
    private let name: DistinguishedName

    init(_ commonName: String, _ now: UnixTime) throws(IssuingError) {
      let name = DistinguishedName((.commonName, commonName), (.organization, "Portcullis"))
      let key = try SigningKey.generate(.p256)
      let builder = CertificateBuilder(
        subject: name, issuer: name, notBefore: now.adding(days: -1),
        notAfter: now.adding(days: authorityDays),
        extensions: [
          .basicConstraints(authority: true, pathLength: 0), .keyUsage(.keyCertSign, .crlSign),
          .subjectKeyIdentifier(try key.keyIdentifier()),
        ])
      certificate = try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: key)
      self.key = key
      self.name = name
    }

    func issue(
      _ commonName: String, _ purpose: [UInt32], _ names: [CertificateExtension.AlternativeName],
      _ now: UnixTime
    ) throws(IssuingError) -> Issued {
      let leafKey = try SigningKey.generate(.p256)
      var extensions: [CertificateExtension] = [
        .basicConstraints(authority: false), .keyUsage(.digitalSignature), .extendedKeyUsage(purpose),
        .subjectKeyIdentifier(try leafKey.keyIdentifier()), .authorityKeyIdentifier(try key.keyIdentifier()),
      ]
      if !names.isEmpty { extensions.append(.subjectAlternativeNames(names)) }
      let builder = CertificateBuilder(
        subject: DistinguishedName((.commonName, commonName), (.organization, "Portcullis")), issuer: name,
        notBefore: now.adding(days: -1), notAfter: now.adding(days: leafDays), extensions: extensions)
      let certificate = try builder.sign(subjectPublicKeyInfo: leafKey.subjectPublicKeyInfo(), with: key)
      return Issued(certificate: certificate, key: leafKey)
    }
  }
}
