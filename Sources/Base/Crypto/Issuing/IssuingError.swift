/// Why a key or certificate could not be made or read, in terms of the operation that failed.
internal import COpenSSL

package enum IssuingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// OpenSSL refused; the reason is its own text.
  case cryptography(operation: String, reason: String)
  /// The text holds no PEM block with this label.
  case notPEM(label: String)
  /// An elliptic curve other than P-256 and P-384.
  case unsupportedKey

  /// With the reason that OpenSSL's error queue holds, which is left empty.
  static func failed(_ operation: String) -> Self {
    // The reason's text is a constant of the library; it is copied at once.
    let reason = unsafe ERR_reason_error_string(portcullis_take_error())
    return .cryptography(
      operation: operation, reason: unsafe reason.map { unsafe String(cString: $0) } ?? "unknown")
  }

  package var description: String {
    switch self {
    case .cryptography(let operation, let reason): "\(operation): \(reason)"
    case .notPEM(let label): "no PEM block of \(label)"
    case .unsupportedKey: "the key is not on P-256 or P-384"
    }
  }
}
