/// SHA-256 (FIPS 180-4) of what lies in one piece.
package import Bytes
internal import COpenSSL

package func sha256(_ bytes: [UInt8]) -> Bytes32 {
  var digest = [UInt8](repeating: 0, count: 32)
  // Reads `count` bytes of the one array and writes the 32 of the other.
  _ = unsafe SHA256(bytes, bytes.count, &digest)
  guard let digest = Bytes32(digest) else { fatalError("SHA-256 of another length than 32") }
  return digest
}
