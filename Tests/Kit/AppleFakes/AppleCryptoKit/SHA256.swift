/// What is asked of CryptoKit. What a sequence of bytes is by DataProtocol there, it is by Sequence here.
internal import Bytes
internal import Crypto

@available(iOS 13.0, *)
public struct SHA256: Sendable {
  public static func hash<D>(data: D) -> SHA256Digest where D: Sequence, D.Element == UInt8 {
    SHA256Digest(bytes: Crypto.SHA256.hash(Array(data).span).array)
  }
}

@available(iOS 13.0, *)
public struct SHA256Digest: Sequence, Sendable {
  let bytes: [UInt8]

  public func makeIterator() -> Array<UInt8>.Iterator { bytes.makeIterator() }
}
