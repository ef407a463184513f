/// Which of Apple's App Attest services made a key, as the AAGUID tells (Apple, "Validating apps…", step 8).
internal import Bytes

package enum AttestEnvironment: String, Hashable, Sendable, CaseIterable {
  case production
  case development

  /// 16 bytes: `appattest` and seven zero bytes, or `appattestdevelop`.
  package var aaguid: [UInt8] {
    switch self {
    case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
    case .development: Array("appattestdevelop".utf8)
    }
  }

  /// Of exactly these 16 bytes, else nil.
  package init?(aaguid: Span<UInt8>) {
    for environment in Self.allCases where equalInConstantTime(environment.aaguid.span, aaguid) {
      self = environment
      return
    }
    return nil
  }
}
