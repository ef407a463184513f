/// Tokens as Google makes them, with anything in them changed; and one that another implementation has made.
import Bytes
import Crypto
import DeviceWire
import PlayIntegrity
import Time
import Testing

/// A pair of keys with its private half.
final class TokenMaker: Sendable {
  let wrapping: Bytes32
  let signing: SigningKey
  let point: P256Point

  init(wrapping byte: UInt8 = 0x5A) throws {
    wrapping = Bytes32(.init(repeating: byte))
    signing = try SigningKey.generate(.p256)
    let x963 = try signing.publicPoint()
    let decoded = P256Point(x963: x963.span)
    point = try #require(decoded)
  }

  var keys: PlayKeys { PlayKeys(decryption: wrapping, verification: point) }
}

/// A good token, unless something in it is changed before it is made.
struct TestToken {
  var innerHeader = #"{"alg":"ES256"}"#
  var outerHeader = #"{"alg":"A256KW","enc":"A256GCM"}"#
  var payload = Self.goodPayload
  var nonce = [UInt8](repeating: 0x17, count: 12)
  private let contentKey = Bytes32(.init(repeating: 0xC4))

  static let package = "com.example.mud"
  static let request = SHA256.hash(Array("a nonce".utf8).span)
  static let certificate = SHA256.hash(Array("a certificate".utf8).span)
  static let now = UnixTime(milliseconds: 1_772_452_830_000)

  static let goodPayload = """
    {"requestDetails":{"requestPackageName":"com.example.mud","nonce":"\(text(request))",\
    "timestampMillis":"1772452800000"},"appIntegrity":{"appRecognitionVerdict":"PLAY_RECOGNIZED",\
    "packageName":"com.example.mud","certificateSha256Digest":["\(text(certificate))"],"versionCode":"42"},\
    "deviceIntegrity":{"deviceRecognitionVerdict":["MEETS_BASIC_INTEGRITY","MEETS_DEVICE_INTEGRITY"]},\
    "accountDetails":{"appLicensingVerdict":"LICENSED"}}
    """

  static func apps() throws -> [AndroidApp] {
    let digests: Set = [certificate, Bytes32(.init(repeating: 7))]
    let other = try #require(AndroidApp(package: "com.example.other", digests: [Bytes32()]))
    return [try #require(AndroidApp(package: package, digests: digests)), other]
  }

  static func text(_ bytes: Bytes32) -> String { Base64.encodeURL(bytes.array.span) }
  static func text(_ text: String) -> String { Base64.encodeURL(Array(text.utf8).span) }

  init() {}

  init(_ text: String, instead: String) {
    payload = payload.replacing(text, with: instead)
  }

  /// The inner token.
  func signed(by maker: TokenMaker) throws -> String {
    let input = "\(Self.text(innerHeader)).\(Self.text(payload))"
    let signature = try maker.signing.signES256(Array(input.utf8)).bytes
    return "\(input).\(Base64.encodeURL(signature.span))"
  }

  /// The five parts of the outer one.
  func parts(_ contents: String, for maker: TokenMaker) -> [String] {
    let header = Self.text(outerHeader)
    let sealed = AES256GCM.seal(
      Array(contents.utf8).span, nonce: nonce.span, additionalData: Array(header.utf8).span, key: contentKey)
    let wrapped = AES256KeyWrap.wrap(contentKey, under: maker.wrapping)
    return [header] + [wrapped, nonce, sealed.ciphertext, sealed.tag].map { Base64.encodeURL($0.span) }
  }

  func parts(by maker: TokenMaker) throws -> [String] {
    parts(try signed(by: maker), for: maker)
  }

  func make(by maker: TokenMaker) throws -> String {
    try parts(by: maker).joined(separator: ".")
  }
}

/// What is said of a token under the policy that the good one is for.
func judge(
  _ token: String, _ keys: [PlayKeys], now: UnixTime = TestToken.now, maximumAge: Duration = .seconds(120),
  required: PlayLevel = .device
) throws -> Result<PlayVerdict, PlayRejection> {
  try judge(Array(token.utf8), keys, now: now, maximumAge: maximumAge, required: required)
}

func judge(
  _ token: [UInt8], _ keys: [PlayKeys], now: UnixTime = TestToken.now, maximumAge: Duration = .seconds(120),
  required: PlayLevel = .device
) throws -> Result<PlayVerdict, PlayRejection> {
  let apps = try TestToken.apps()
  do throws(PlayRejection) {
    let verdict = try PlayVerifier().verify(
      token.span, nonce: TestToken.request, keys: keys, apps: apps, now: now, maximumAge: maximumAge,
      required: required)
    return .success(verdict)
  } catch {
    return .failure(error)
  }
}

extension Result where Success == PlayVerdict, Failure == PlayRejection {
  var rejection: PlayRejection? { if case .failure(let rejection) = self { rejection } else { nil } }
}

/// The good token, made by jwcrypto 1.1.
enum ForeignToken {
  static let decryption = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
  static let verification =
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9g5QPLCW25I3bRCMWUZB8WoSbtiUatf+4JPKExGprJN5/ZhYXB2j"
    + "GNQYWUz+njZRftBgwbwGteYR+W+DaHNYbw=="
  static let text =
    "eyJhbGciOiAiQTI1NktXIiwgImVuYyI6ICJBMjU2R0NNIn0.SZXLteKU_mzPoyjT8jh1NQlZwthCdLQzwmNbpy3k7RYtWr1rF4XL"
    + "xg.WSzrINTV8CmChLZz.XLSagup2kcuZxd9n-tpXun68IpiXoETOJM53GwwYWXu7QZKdEDRkM88B62apVXe7dEQeQ05k37rjd5C4"
    + "NNXvWvuk81I-Rh9cEQZDOWjVR_ZL_xd8KJszYod58MharaI40heWfl6hS3t7iRx2fwrrCJ_Uy1XyKPmurAi0Gj_1xcCleaqv_W3q"
    + "ImsN9ZwW85Mjavx5L_uqRKW2zBrmOfmgoPCHIjbjrB_2l8HXVyKaAj2a0OpMIoHj4SVGlTDTmvey4vB0pYo-kVUTIFWLo13VTLAE"
    + "mHR6OYYfLkFcCtprJ8EmvmUVE2U_Op9a6tDg87ZZMhOnuMLYQSIq9obcQPz1BmT69Zrq1SKaaz6y5DuVa-yKQqzwRPzSbzCDw_7U"
    + "IYT3y3MYb95ccrx856hzXSIl3cAOJ3qHPcOPgZ6wS4jwvqupWpW7dZT3y8SXwwpmktZt6BklOj-MxlEv0lMEBgBYPap4OsJHKBQR"
    + "2Xrh6yDO6m_hEqB43Qz5gswKWcp_fidasIKkAY_2vCWPdopKwTVkainMqVhLM3izVQKu18yqkFV_1bIPS9p1Yy8-ycdq5hqtA-b8"
    + "mmEnaxWrPzMN4eaKU2-GFxuZRwuXXbonlVaHYuA77KIORXRRkRBWsSRsGcH3gjb7vYlh3b8BngNXKTCHGSYfBvzWhVpFW2hJuQJ5"
    + "p_OdtMoMkN2zVS_lCw3T_l-jr-Oxt1ilFNoB0PkS93xc4TSZcGKckmqK8EIed3I1RFYULafYNB2kx0iq192rpG9rsOoxyGuLGVyI"
    + "FZY5uwlaATKOWjdvOqP1AYUVmYayhe1wyE7szqE_eEzwE77LcPduQQ94P6nTq9IinWD4bW3tQ3zwU0faGIF6GnLFwf0PhS_SQUpI"
    + "INhFaA7C8ds397LJqGKFjLkSGS1UnxTUp4mkYRBW5gzHWeDyNKRlCJeIFEqH9C0mxZI738QBHNJGRoBDkPFi7H-_4k52mnqGX4i7"
    + "ew64AC6kvCelvq51JHjxPbceiq-rEMl33mOon09QFG1qGwJtkOxOs5j8E1wZXw.84r4AEkjLw8k6P1rk6URTQ"
}
