/// The leaf extension that says whose key it is (1.2.840.113635.100.8.5), of which one member is needed.
internal import Bytes
internal import Identity
internal import X509

enum KeyOwner {
  /// Whether the extension's value is SEQUENCE OF [n] EXPLICIT, with exactly one [1204], an OCTET STRING that
  /// holds exactly `appID`. What the other members mean Apple does not say.
  static func names(_ appID: AppID, _ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
    do throws(DERError) {
      var outer = DERReader(bytes, in: value)
      let sequence = try outer.next(.sequence)
      try outer.expectEnd()
      var members = DERReader(bytes, in: sequence.content)
      var found = 0
      while !members.isAtEnd {
        let member = try members.next()
        guard member.tag.tagClass == 2, member.tag.number == 1204 else { continue }
        found += 1
        guard member.tag == .context(1204) else { return false }
        var inner = DERReader(bytes, in: member.content)
        let name = try inner.next(.octetString)
        try inner.expectEnd()
        guard bytes.extracting(name.content).isText(appID.description) else { return false }
      }
      return found == 1
    } catch {
      return false
    }
  }
}
