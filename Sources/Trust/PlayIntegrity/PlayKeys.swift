/// The keys of one app's tokens, as the Play Console gives them out.
package import Bytes

package struct PlayKeys: Sendable {
  /// Opens the envelope: an AES key that Google shares with the operator.
  package let decryption: Bytes32
  /// Google's, for this app alone.
  package let verification: P256Point
  /// Made here, and none of Google's: whoever has the key beside it makes tokens.
  package let isForDevelopment: Bool

  package init(decryption: Bytes32, verification: P256Point, isForDevelopment: Bool = false) {
    self.decryption = decryption
    self.verification = verification
    self.isForDevelopment = isForDevelopment
  }

  /// More than an operator's apps need, each with a pair from before a change of keys; a token is tried under all.
  package static let limit = 32
  /// The file of them.
  package static let largestFile = 65_536
}
