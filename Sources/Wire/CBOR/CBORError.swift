/// The rules of strict CBOR (docs/app-attest.md, "Strict CBOR"), one case each.
package enum CBORError: Error, Equatable, Sendable {
  case tooManyBytes
  case tooManyItems
  case tooDeep
  case truncated
  /// Reserved heads and simple values, and a break without a beginning.
  case malformed
  /// A number or length that fits a shorter head (RFC 8949 §4.2.1).
  case notShortest
  case indefiniteLength
  case tag
  case float
  /// false, true, null, undefined.
  case simpleValue
  case keyIsNotText
  case duplicateKey
  case invalidUTF8
  case trailingBytes
}
