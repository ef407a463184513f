/// Whose key it is: packages that share a user of the system, and what signed them (Android, "Key and ID attestation",
/// `AttestationApplicationId`).
internal import Bytes
internal import X509

struct ApplicationID {
  let packages: [[UInt8]]
  let digests: [[UInt8]]

  /// SEQUENCE { SET OF SEQUENCE { package, version }, SET OF digest }, not yet known to be DER.
  init(_ der: Span<UInt8>, in range: Range<Int>) throws(DERError) {
    var outer = DERReader(der, in: range)
    var fields = DERReader(der, in: try outer.next(.sequence).content)
    try outer.expectEnd()
    var members = DERReader(der, in: try fields.next(.set).content)
    var packages: [[UInt8]] = []
    while !members.isAtEnd {
      var package = DERReader(der, in: try members.next(.sequence).content)
      packages.append(der.extracting(try package.next(.octetString).content).array)
      // Its version, on which nothing hangs: in 64 bits of which the app may set the highest, so that it is negative.
      _ = try package.next(.integer)
      try package.expectEnd()
    }
    members = DERReader(der, in: try fields.next(.set).content)
    var digests: [[UInt8]] = []
    while !members.isAtEnd { digests.append(der.extracting(try members.next(.octetString).content).array) }
    try fields.expectEnd()
    self.packages = packages
    self.digests = digests
  }
}
