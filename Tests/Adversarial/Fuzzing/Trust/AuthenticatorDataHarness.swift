/// Authenticator data (WebAuthn §6.1) in front of what reads it, and signed within an assertion.
@testable internal import AppAttest
internal import Bytes
@testable internal import CBOR

enum AuthenticatorDataHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let data = AuthenticatorData(bytes.span) else {
      try require(bytes.count < 37, "37 bytes are enough")
      return .refused
    }
    try require(data.rpIDHash.array.elementsEqual(bytes[..<32]), "another hash")
    // What stands where extensions would be, in an assertion and in an attestation.
    var isAccepted = false
    for start in [37, 164] where start <= bytes.count {
      let rest = Array(bytes[start...])
      guard let launch = data.launchInformation(rest.span) else { continue }
      isAccepted = true
      try AttestationHarness.checkLaunch(
        rest, isFlagged: data.announcesExtensions, launch.validationCategory, launch.bundleVersion)
      try checkFlag(rest, launch, isFlagged: data.announcesExtensions)
    }
    try AssertionHarness.checkSigned(bytes)
    return isAccepted ? .accepted : .refused
  }

  /// The flag lets more keys in, and changes nothing about those that are known.
  private static func checkFlag(
    _ rest: [UInt8], _ launch: LaunchInformation, isFlagged: Bool
  ) throws(BrokenProperty) {
    guard !rest.isEmpty else { return }
    guard let flagged = LaunchInformation(extensions: rest.span, isFlagged: true) else {
      throw BrokenProperty("refused with the flag alone")
    }
    try require(flagged == launch, "the flag changes what is said")
    let unflagged = LaunchInformation(extensions: rest.span, isFlagged: false)
    try require(unflagged == nil || unflagged == launch, "without the flag it says something else")
    try require(isFlagged || unflagged != nil, "accepted without the flag and refused without it")
  }
}
