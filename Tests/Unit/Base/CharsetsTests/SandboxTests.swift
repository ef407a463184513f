import Confinement
import Glibc
import Obligation
import Synchronization
import System
import Testing

@testable import Charsets

/// What is open before the sandbox is raised serves behind it.
@Suite struct SandboxTests {
  /// In a process of its own, as a filter stays for ever.
  @Test(
    .enabled(
      if: Obligation.runs(SystemCallFilter.isAvailable, "seccomp"), "the kernel has no seccomp filters"))
  func everyCharsetServesBehindTheSandbox() async {
    await #expect(processExitsWith: .success) {
      let open = CharsetLibrary()
      try SystemCallFilter.prepare().install()
      var wrong: [String] = []
      for charset in Charset.allCases {
        guard var decoder = open.decoder(for: charset), let encoder = open.encoder(for: charset) else {
          wrong.append("\(charset) is not there")
          continue
        }
        // A character that is not ASCII, where the charset has any.
        var bytes: [UInt8] = []
        for text in ["\u{4E00}", "\u{AC00}", "\u{A0}", "\u{E9}", "\u{43}"] {
          encoder.encode(Array(text.utf8).span, into: &bytes)
        }
        var text: [UInt8] = []
        decoder.decode(bytes.span, into: &text)
        var again: [UInt8] = []
        encoder.encode(text.span, into: &again)
        let hasOthers = text.contains { $0 >= 0x80 }
        if again != bytes || hasOthers == (charset == .usASCII) { wrong.append("\(charset): \(bytes)") }
      }
      SandboxTests.finish(wrong)
    }
  }

  /// Why they are opened beforehand; those that need no module are there all the same.
  @Test(
    .enabled(
      if: Obligation.runs(SystemCallFilter.isAvailable, "seccomp"), "the kernel has no seccomp filters"))
  func nothingCanBeOpenedBehindTheSandbox() async {
    await #expect(processExitsWith: .success) {
      try SystemCallFilter.prepare().install()
      let late = CharsetLibrary()
      SandboxTests.finish(
        Charset.allCases.filter { late.has($0) == $0.needsModule }.map { "\($0): \(late.has($0))" })
    }
  }

  /// Ends the child, with what is wrong on standard error.
  private static func finish(_ wrong: [String]) -> Never {
    for line in wrong {
      _ = unsafe Array("\(line)\n".utf8).withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
    }
    // At once: what a sanitizer does at an orderly end is what is forbidden here.
    _exit(wrong.isEmpty ? EXIT_SUCCESS : EXIT_FAILURE)
  }

  /// All threads share the descriptors of the C library.
  @Test func anyThreadMayConvert() throws {
    let texts: [(Charset, String)] = [
      (.gbk, "你站在客栈门口"), (.big5, "你站在客棧門口"), (.eucKR, "당신은 여관 앞에"), (.shiftJIS, "宿屋の前です"),
      (.koi8R, "у ворот"),
    ]
    var threads: [JoinHandle] = []
    let wrong = Wrong()
    for number in 0..<4 {
      let thread = try Thread(name: "convert-\(number)") {
        for round in 0..<300 {
          let (charset, text) = texts[(round + number) % texts.count]
          let long = String(repeating: text, count: 40)
          // With something that is none in the middle, so that one thread's error is not another's.
          let bytes = encoded(long, to: charset) + [0xFF, 0x20] + encoded(long, to: charset)
          let expected = long + (charset == .koi8R ? "\u{42A}" : "\u{FFFD}") + " " + long
          if decoded(bytes, from: charset) != Array(expected.utf8) { wrong.note() }
        }
      }
      threads.append(JoinHandle(thread))
    }
    for thread in threads { thread.join() }
    #expect(wrong.count == 0)
  }
}

private final class Wrong: Sendable {
  private let number = Mutex(0)

  var count: Int { number.withLock { $0 } }

  func note() {
    number.withLock { $0 += 1 }
  }
}
