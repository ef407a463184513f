/// Where receipts of attestations are kept, out of the key store: one file for each key (docs/key-store.md,
/// "Receipts").
///
/// A receipt is opaque here and not covered by the nonce: it is evidence for Apple's servers, not for the gate.
internal import Bytes
internal import System

struct ReceiptFolder: Sendable {
  private let path: String

  init(path: String) {
    self.path = path
  }

  /// `<aa>/<hex of keyId>.der`, replaced when the key is attested again. Blocks on the disk: not for loops.
  func keep(_ receipt: [UInt8], of keyID: KeyIdentifier) throws(SystemError) {
    let name = keyID.digest.hex
    let folder = "\(path)/\(name.prefix(2))"
    try WholeFile.makeFolder(folder)
    try WholeFile.write(receipt, to: "\(folder)/\(name).der", mode: 0o600, overwriting: true)
  }
}
