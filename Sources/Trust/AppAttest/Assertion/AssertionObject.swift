/// The assertion object as ranges of its bytes: CBOR { signature, authenticatorData } and nothing more.
internal import Bytes
internal import CBOR

struct UnverifiedAssertion: Sendable {
  let signature: Range<Int>
  let authenticatorData: Range<Int>

  init(_ bytes: Span<UInt8>) throws(AssertionError) {
    let document: CBORDocument
    do throws(CBORError) {
      document = try CBORDocument.parse(bytes, limits: CBORLimits(bytes: Self.maximumBytes))
    } catch {
      throw error == .tooManyBytes ? .tooLarge : .cbor(error)
    }
    var signature: Range<Int>?
    var data: Range<Int>?
    for (key, value) in document.pairs(of: document.root) {
      switch (bytes.extracting(key), value.kind) {
      case (let member, .bytes(let content)) where member.isText("signature"): signature = content
      case (let member, .bytes(let content)) where member.isText("authenticatorData"): data = content
      default: throw .format
      }
    }
    guard let signature, let data else { throw .format }
    self.signature = signature
    authenticatorData = data
  }

  /// Apple's objects have 140 to 210 bytes.
  static let maximumBytes = 2048
}
