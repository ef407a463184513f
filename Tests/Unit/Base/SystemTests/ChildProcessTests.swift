/// What another program finds when it is started: by a shell that tells it through one of its descriptors.
import Glibc
import Testing
import Time

@testable import System

@Suite struct ChildProcessTests {
  /// A pipe, its writing end out of the way of what a program is given.
  private struct Pipe: ~Copyable {
    let reading: OwnedDescriptor
    /// Until `read`.
    let number: Int32

    init(from lowest: Int32) throws {
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0 else { throw SystemError("pipe") }
      reading = OwnedDescriptor(owning: ends[0])
      number = fcntl(ends[1], F_DUPFD_CLOEXEC, lowest)
      _ = close(ends[1])
    }

    /// All that is written until nobody has the other end any more.
    consuming func read() throws -> [String] {
      _ = close(number)
      var (text, bytes): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 4096))
      while case let count = try reading.read(into: &bytes), count > 0 { text += bytes.prefix(count) }
      return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  private func shell(
    _ script: String, _ descriptors: [(number: Int32, name: String)] = [],
    environment: [(String, String)] = [("PATH", "/usr/bin:/bin")]
  ) -> ChildProcess.Program {
    ChildProcess.Program(
      path: "/bin/sh", arguments: ["sh", "-c", script], environment: environment, descriptors: descriptors)
  }

  /// Not by `reap`, which would take other tests' children.
  private func wait(for process: ChildProcess) -> Int32 {
    var status: Int32 = 0
    let waited = unsafe waitpid(process.number, &status, 0)
    return waited == process.number ? status : -1
  }

  /// Each at its place whatever its number was, under the program's own number, and nothing else but what every program
  /// has.
  @Test func descriptorsAreWhereTheirNamesSay() throws {
    let pipe = try Pipe(from: 1010)
    let low = try OwnedDescriptor.open(reading: "/dev/null")
    let null = try OwnedDescriptor.duplicate(low.number, from: 1010)
    // Not close-on-exec, as somebody's library may leave one.
    let leaked = fcntl(null.number, F_DUPFD, 1030)
    let process = try ChildProcess.start(
      shell(
        """
        exec 1>&5 5>&-; [ $LISTEN_PID = $$ ] && echo mine; echo $LISTEN_FDS $LISTEN_FDNAMES $EXTRA
        ls /proc/$$/fd; readlink /proc/$$/fd/3 /proc/$$/fd/4
        """,
        [(null.number, "l0"), (null.number, "s000"), (pipe.number, "over")],
        environment: [("PATH", "/usr/bin:/bin"), ("EXTRA", "a b")]))
    let said = try pipe.read()
    _ = close(leaked)
    let status = wait(for: process)
    #expect(status == 0)
    #expect(said.prefix(2) == ["mine", "3 l0:s000:over a b"])
    #expect(said.dropFirst(2) == ["0", "1", "2", "3", "4", "/dev/null", "/dev/null"])
  }

  /// What this process ignores, the program gets as ever.
  @Test func theProgramHasItsSignals() async {
    await #expect(processExitsWith: .success) {
      StraySignals.ignore()
      let process = try ChildProcess.start(
        ChildProcess.Program(
          path: "/bin/sh", arguments: ["sh", "-c", "kill -USR1 $$; exit 3"], environment: [], descriptors: [])
      )
      var status: Int32 = 0
      guard unsafe waitpid(process.number, &status, 0) == process.number else { exit(1) }
      exit(status & 0x7F == SIGUSR1 ? 0 : 2)
    }
  }

  @Test func withoutDescriptorsNobodyIsTold() throws {
    let folder = try TemporaryFolder(prefix: "child-")
    let path = folder.path + "/said"
    let process = try ChildProcess.start(shell("env >'\(path)'"))
    let status = wait(for: process)
    #expect(status == 0)
    let said = String(decoding: try WholeFile.read(path, limit: 4096), as: UTF8.self)
    #expect(!said.contains("LISTEN_"))
    folder.remove()
  }

  /// What is sent before the program has a handler waits for it: a shell would end by it.
  @Test func ordersWaitForTheirHandler() throws {
    let process = try ChildProcess.start(
      ChildProcess.Program(path: "/bin/sleep", arguments: ["sleep", "60"], environment: [], descriptors: []))
    for signal in [SIGTERM, SIGINT, SIGHUP] { process.send(signal) }
    let isThere = kill(process.number, 0) == 0
    #expect(isThere)
    let group = getpgid(process.number)
    #expect(group == process.number)
    process.send(SIGKILL)
    let status = wait(for: process)
    #expect(status & 0x7F == SIGKILL)
  }

  @Test(arguments: [("/nobody/there", ENOENT), ("/etc/passwd", EACCES), ("/", EACCES)])
  func aProgramThatCannotBeExecuted(path: String, number: Int32) {
    #expect(throws: SystemError("execute \(path)", number)) {
      _ = try ChildProcess.start(
        ChildProcess.Program(path: path, arguments: ["x"], environment: [], descriptors: []))
    }
  }

  /// execve(2) refuses one text above 128 KiB, and so do we hear of it.
  @Test func namesThatAreTooLongTogether() throws {
    let low = try OwnedDescriptor.open(reading: "/dev/null")
    let null = try OwnedDescriptor.duplicate(low.number, from: 1010)
    let name = String(repeating: "x", count: 131_072)
    #expect(throws: SystemError("execute /bin/sh", E2BIG)) {
      _ = try ChildProcess.start(shell("", [(null.number, name)]))
    }
  }
}
