/// `portcullis simulate phone presence`: answers desktops that are near (docs/codes.md, "Presence").
import ArgumentParser
import Device
import PortcullisDevice
import Prompt
import System

extension Simulate.Phone {
  struct Presence: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "presence", abstract: "Answer a desktop that asks whether the phone is near.",
      discussion: """
        Reads challenges from standard input, a line of JSON each, and writes what the phone has signed to standard output, \
        without a word to the gate: the other end is simulate desktop. Goes on until the input ends.
        """)

    @ParentCommand var phone: Simulate.Phone

    func run() throws {
      let input = try PresenceInput.open()
      var isUnderstood = true
      while let line = try PresenceInput.line(of: input, within: .seconds(86_400)) {
        guard let question = PresenceQuestion(line: line) else {
          complain("this is not what a desktop asks")
          isUnderstood = false
          continue
        }
        let answer = try phone.withPhone { session async throws(DeviceFailure) in
          try await session.answer(question)
        }
        say(answer.line)
      }
      if !isUnderstood { throw ExitStatus.dataError }
    }
  }
}
