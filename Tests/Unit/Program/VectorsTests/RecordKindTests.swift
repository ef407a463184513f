/// What `portcullis verify` takes a file for.
import Testing

@testable import Vectors

@Suite struct RecordKindTests {
  @Test(arguments: [
    (#"{"kind":"assertion","name":"a"}"#, RecordKind.recorded),
    (#"{"kind":"android-key","x5c":[]}"#, .recorded),
    (" \n" + #"{"id":"5","state":"approved","summary":"e30","votes":[]}"#, .approval),
    (#"{"id":"5","state":"approved"}"#, .approval),
    (#"{"attestation_type":"android_key","x5c":[],"approval_x5c":[]}"#, .androidKey),
    ("-----BEGIN CERTIFICATE-----\nAAAA\n", .androidKey), ("a.b.c.d.e\n", .playIntegrity),
    ("eyJh_-.e30.c2ln\r\n", .playIntegrity), ("a.b.c.d", .recorded), ("an opaque token", .recorded),
    ("", .recorded), ("{", .recorded), ("[]", .recorded), ("-----BEGI", .recorded),
    (#"{"kind":"message"}"# + "\n" + #"{"kind":"message"}"#, .recorded),
  ])
  func isTakenForWhatItIs(text: String, kind: RecordKind) {
    #expect(RecordKind(recognising: Array(text.utf8).span) == kind)
  }

  @Test func longFilesAreCases() {
    let long = [UInt8](repeating: UInt8(ascii: "a"), count: RecordKind.longest) + Array(".b.c".utf8)
    #expect(RecordKind(recognising: long.span) == .recorded)
  }
}
