/// A device, its token, and the key ring of a gate at a fixed time.
import Bytes
import Crypto
import DeviceWire
import Time
import Testing

@testable import DeviceTokens

let noon = UnixSeconds(UnixTime(milliseconds: 1_771_286_400_000))
let issuer = "https://gate.example"

func at(_ seconds: Int64) -> UnixSeconds { noon + seconds }

/// The same bytes each time, counting up.
final class CountingEntropy: Entropy {
  func fill(_ bytes: inout MutableSpan<UInt8>) {
    for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index + 1) }
  }
}

func deviceID() throws -> DeviceID { try #require(DeviceID("6f9619ff-8b86-4011-b42d-00cf4fc964ff")) }

func token(series: UInt32 = 7) throws -> DeviceToken {
  DeviceToken(
    issuer: issuer, device: try deviceID(), audience: issuer, issuedAt: noon, expiresAt: at(600),
    identifier: TokenIdentifier(series: series, entropy: CountingEntropy()),
    deviceKey: KeyThumbprint(try TokenKey.generate().point), level: .appAttested, userVerification: .app,
    platform: .ios, appVersion: "2.1", attestedAt: at(-60))
}

/// What becomes of a token as it is shown.
func verify(
  _ text: String, under ring: TokenKeyRing, audiences: [String] = [issuer], at now: UnixSeconds = noon
) throws(TokenRejection) -> DeviceToken {
  try TokenVerifier(P256Verifier()).verify(
    Array(text.utf8).span, under: ring, issuer: issuer, audiences: audiences, now: now)
}

/// A token of whatever header and claims, truly signed.
func signed(header: String, claims: String, by key: TokenKey) throws -> String {
  let input =
    "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))"
  return "\(input).\(Base64URL.encode(try key.signES256(Array(input.utf8)).bytes))"
}
