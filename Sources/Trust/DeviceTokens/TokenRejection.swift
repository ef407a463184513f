/// Why a device token is not accepted; a peer learns only that it is not.
package enum TokenRejection: String, Error, CaseIterable, Sendable {
  /// Longer than any of ours.
  case size
  /// Not three parts of base64url.
  case form
  /// The header is not an object of just `alg`, `kid` and `typ`.
  case header
  /// `alg` is not `ES256`: `none`, or a MAC under what is public.
  case algorithm
  /// `typ` is another kind of token.
  case type
  /// `kid` names no key of this gate, or one that is no longer published.
  case key
  case signature
  /// A claim is missing or has another form.
  case claims
  case issuer
  case audience
  /// Issued in the future, or good for longer than any.
  case issued
  case expired
}
