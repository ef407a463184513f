/// The rules of DER (X.690 §8, §10, §11) and of the certificate's grammar (RFC 5280 §4.1), one case each.
package enum DERError: Error, Equatable, Sendable {
  case truncated
  case trailingBytes
  case indefiniteLength
  case nonMinimalLength
  case lengthTooLarge
  case nonMinimalTag
  case tagTooLarge
  case unexpectedTag
  /// A constructed form where DER wants the primitive one, or the other way round.
  case wrongForm
  case tooDeep
  case tooManyElements

  case boolean
  case integer
  case null
  case objectIdentifier
  case bitString
  case characterString
  case time

  /// A value equal to the DEFAULT of its type must be absent (X.690 §11.5).
  case encodedDefault
  /// Elements of a SET OF are in ascending order (X.690 §11.6).
  case unorderedSet
  case notVersion3
  case serialNumber
  case name
  case noExtensions
  case basicConstraints
  case keyUsage
  case signatureValue
  /// OpenSSL could not read what passed our own walk.
  case notReadable
}
