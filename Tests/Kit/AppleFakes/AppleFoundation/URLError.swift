/// Why URLSession has nothing to give: codes of NSURLErrorDomain.
@available(iOS 8.0, *)
public struct URLError: Error, Hashable, Sendable {
  /// Any number is one: there are some that Apple does not name.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
      self.rawValue = rawValue
    }

    public static var unknown: URLError.Code { Self(rawValue: -1) }
    public static var cancelled: URLError.Code { Self(rawValue: -999) }
    public static var badURL: URLError.Code { Self(rawValue: -1000) }
    public static var timedOut: URLError.Code { Self(rawValue: -1001) }
    public static var unsupportedURL: URLError.Code { Self(rawValue: -1002) }
    public static var cannotFindHost: URLError.Code { Self(rawValue: -1003) }
    public static var cannotConnectToHost: URLError.Code { Self(rawValue: -1004) }
    public static var networkConnectionLost: URLError.Code { Self(rawValue: -1005) }
    public static var dnsLookupFailed: URLError.Code { Self(rawValue: -1006) }
    public static var httpTooManyRedirects: URLError.Code { Self(rawValue: -1007) }
    public static var resourceUnavailable: URLError.Code { Self(rawValue: -1008) }
    public static var notConnectedToInternet: URLError.Code { Self(rawValue: -1009) }
    public static var redirectToNonExistentLocation: URLError.Code { Self(rawValue: -1010) }
    public static var badServerResponse: URLError.Code { Self(rawValue: -1011) }
    public static var userCancelledAuthentication: URLError.Code { Self(rawValue: -1012) }
    public static var userAuthenticationRequired: URLError.Code { Self(rawValue: -1013) }
    public static var zeroByteResource: URLError.Code { Self(rawValue: -1014) }
    public static var cannotDecodeRawData: URLError.Code { Self(rawValue: -1015) }
    public static var cannotDecodeContentData: URLError.Code { Self(rawValue: -1016) }
    public static var cannotParseResponse: URLError.Code { Self(rawValue: -1017) }
    public static var internationalRoamingOff: URLError.Code { Self(rawValue: -1018) }
    public static var callIsActive: URLError.Code { Self(rawValue: -1019) }
    public static var dataNotAllowed: URLError.Code { Self(rawValue: -1020) }
    @available(iOS 9.0, *)
    public static var appTransportSecurityRequiresSecureConnection: URLError.Code { Self(rawValue: -1022) }
    public static var secureConnectionFailed: URLError.Code { Self(rawValue: -1200) }
    public static var serverCertificateHasBadDate: URLError.Code { Self(rawValue: -1201) }
    public static var serverCertificateUntrusted: URLError.Code { Self(rawValue: -1202) }
    public static var serverCertificateHasUnknownRoot: URLError.Code { Self(rawValue: -1203) }
    public static var serverCertificateNotYetValid: URLError.Code { Self(rawValue: -1204) }
    public static var clientCertificateRejected: URLError.Code { Self(rawValue: -1205) }
    public static var clientCertificateRequired: URLError.Code { Self(rawValue: -1206) }
  }

  public let code: URLError.Code

  public var errorCode: Int { code.rawValue }

  public init(_ code: URLError.Code) {
    self.code = code
  }
}
