/// The keys in which Google's attestation chains end (Android, "Verify hardware-backed key pairs with key attestation",
/// "Root certificates").
package import Bytes
package import Crypto
internal import X509

package enum AndroidRoots {
  /// SHA-256 of each `SubjectPublicKeyInfo`: certificates of one key have come and gone.
  package static let google: Set<Bytes32> = Set([rsa, ecdsa].compactMap { Bytes32(hex: $0) })

  /// RSA of 4,096 bits, subject `serialNumber=f92009e853b6b045`, since 2016.
  private static let rsa = "feb2ea7551ee316ed4bb443c8293b884dbfdea40b603ee3e4f4a897e4580fbae"
  /// P-384, subject `CN=Key Attestation CA1, OU=Android, O=Google LLC, C=US`, of 2025.
  private static let ecdsa = "3ee44512a1af2beb39c889490c60ea3f82e43f5d5a5532f5ab9419f676cd07ec"

  /// The same of all certificates in a PEM text, which are not judged any further: who pins a root knows it.
  package static func hashes(inPEM text: Span<UInt8>) throws(CertificateError) -> Set<Bytes32> {
    var hashes: Set<Bytes32> = []
    for der in try Certificate.contents(ofPEM: text) {
      do throws(CertificateParseError) {
        let root = try CertificateParser.parse(der.span)
        hashes.insert(SHA256.hash(root.der.span.extracting(root.subjectPublicKeyInfo)))
      } catch {
        throw .malformed
      }
    }
    return hashes
  }
}
