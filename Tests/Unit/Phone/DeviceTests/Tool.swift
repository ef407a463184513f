/// Other programs as judges and peers: `openssl` and `python3`, run by the tests.
import Foundation

struct ToolResult {
  let status: Int32
  let output: String
}

enum Tool {
  /// The first of the usual places that has it.
  static func path(_ name: String) -> String? {
    ["/usr/bin/", "/usr/local/bin/", "/bin/"].map { $0 + name }.first {
      FileManager.default.isExecutableFile(atPath: $0)
    }
  }

  static let openssl = path("openssl")

  /// Runs to its end; standard error is part of the output.
  static func run(_ path: String, _ arguments: [String]) throws -> ToolResult {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return ToolResult(status: process.terminationStatus, output: String(decoding: output, as: UTF8.self))
  }
}

/// A server in another process, which ends with this value.
final class ServerProcess {
  private let process = Process()
  let port: UInt16

  struct NoPort: Error {
    let output: String
  }

  /// - Parameter marker: what stands before the port's digits in the server's output.
  init(_ path: String, _ arguments: [String], marker: String) throws {
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let pipe = Pipe()
    // A server that reads the end of its input goes away: it gets a pipe that stays open.
    process.standardInput = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    var output = ""
    var found: UInt16?
    while found == nil {
      let more = pipe.fileHandleForReading.availableData
      if more.isEmpty { break }
      output += String(decoding: more, as: UTF8.self)
      guard let start = output.range(of: marker)?.upperBound, let end = output[start...].firstIndex(of: "\n")
      else {
        continue
      }
      found = UInt16(output[start..<end])
    }
    // All is initialised from here, so that a throw runs deinit.
    port = found ?? 0
    if found == nil { throw NoPort(output: output) }
    // What it says later would fill the pipe.
    pipe.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
  }

  deinit { stop() }

  /// Not by SIGTERM: tests run on threads that block it, and children inherit that.
  private func stop() {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
