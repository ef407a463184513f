/// The list of revoked certificates as its file has it at one moment (docs/android.md, "The revocation list").
package import AndroidKey
package import Bytes
internal import Crypto
package import System
package import Time

package struct RevocationReading: Sendable {
  package let contents: Result<RevocationList, RevocationListError>
  /// SHA-256 of the file; nil where it is too large to be read.
  package let digest: Bytes32?
  let stamp: FileStamp

  /// Nil when the file is none that can be used: nothing is attested then.
  package var list: RevocationList? { try? contents.get() }

  /// In seconds, negative where the file is of a time to come.
  package func age(at now: UnixTime) -> Int64 { now.seconds - stamp.modifiedAt.seconds }

  /// - Parameter known: nil is returned for a file that has not changed since it had this stamp.
  package static func of(
    _ path: String, unless known: FileStamp? = nil
  ) throws(SystemError) -> RevocationReading? {
    // Taken before the bytes: what is written meanwhile is another stamp the next time.
    let stamp = try FileStamp.of(path)
    if stamp == known { return nil }
    guard stamp.size <= RevocationList.maximumBytes else {
      return RevocationReading(contents: .failure(.tooLarge), digest: nil, stamp: stamp)
    }
    let bytes = try WholeFile.read(regular: path, limit: RevocationList.maximumBytes)
    return RevocationReading(contents: list(bytes), digest: SHA256.hash(bytes.span), stamp: stamp)
  }

  private static func list(_ bytes: [UInt8]) -> Result<RevocationList, RevocationListError> {
    do throws(RevocationListError) { return .success(try RevocationList(json: bytes.span)) } catch {
      return .failure(error)
    }
  }
}
