/// `portcullis verify revocation-list`: Google's list of revoked Android attestation keys, read to its end as the gate would
/// (docs/android.md, "The revocation list"). The one command that both programs have: the gate's, as the unit that fetches the
/// list is the gate's, and the other one with all that `verify` does.
import AndroidKey
package import ArgumentParser
import Bytes
import Configuration
import Prompt
import System

package struct VerifyRevocationList: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "revocation-list", abstract: "Read a list of revoked Android attestation keys to its end.",
    discussion: """
      FILE is what https://android.googleapis.com/attestation/status answers. Prints how many keys it names; ends with \
      status 65 when the gate could not use it. So a list that was cut off never takes the place of a good one.
      """)

  @Argument(help: "The list.", completion: .file())
  var file: String

  package init() {}

  package func run() throws {
    let contents: [UInt8]
    do {
      contents = try SystemFiles().contents(of: file, limit: RevocationList.maximumBytes)
    } catch {
      throw refused("\(error)")
    }
    let list: RevocationList
    do throws(RevocationListError) {
      list = try RevocationList(json: contents.span)
    } catch {
      throw refused(Self.sentence(error))
    }
    var output = Output()
    try output.line("\(PrintableText.field(file)): \(list.count) revoked keys")
    try output.flush()
  }

  private func refused(_ why: String) -> ExitStatus {
    complain("\(file) is no list of revoked keys: \(why); fetch it again")
    return ExitStatus.dataError
  }

  private static func sentence(_ error: RevocationListError) -> String {
    switch error {
    case .tooLarge: "it has more than \(RevocationList.maximumBytes) bytes"
    case .json(let error): "\(error)"
    case .entries: "it has no object entries, or two"
    case .serial: "the name of an entry is no hexadecimal number"
    case .status: "an entry is no object with a text status"
    }
  }
}
