/// Measures parts of the gate in process, for the bench (`Benchmarks/README.md`); each command prints one
/// JSON object. Not installed.
import Glibc
import System

@main
struct Measures {
  static let usage = """
    usage: portcullis-bench assertions SECONDS
           portcullis-bench registrations SECONDS LEAF-FILE INTERMEDIATE-FILE
           portcullis-bench android-keys SECONDS FOLDER
           portcullis-bench bodies AUTHORITY-FOLDER APP-ID NONCES-FILE BODIES-FILE
           portcullis-bench enrollments AUTHORITY-FOLDER PACKAGE:SHA256 SERVER-ID NONCES-FILE BODIES-FILE
           portcullis-bench store-make FOLDER KEYS
           portcullis-bench store-measure FOLDER SECONDS
           portcullis-bench commits FOLDER SECONDS
           portcullis-bench registry-make FOLDER ROWS
           portcullis-bench registry-measure FOLDER
           portcullis-bench registry-commits FOLDER SECONDS
           portcullis-bench phones FOLDER COUNT PUBLIC-URL FILE
           portcullis-bench play-phones FOLDER COUNT PHONES-FILE
           portcullis-bench attestations AUTHORITY-FOLDER PACKAGE:SHA256 SERVER-ID PHONES-FILE NONCES-FILE BODIES-FILE
           portcullis-bench play SECONDS
           portcullis-bench scrapes FOLDER SECONDS
           portcullis-bench slots SECONDS
    """

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    do {
      guard let report = try run(arguments) else {
        print(usage)
        exit(64)
      }
      print(report.text)
    } catch {
      print("{\"error\":\"\(error)\"}")
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws -> Report? {
    switch (arguments.first, arguments.count) {
    case ("assertions", 2):
      return try seconds(arguments[1]).map { try AssertionMeasure.run(seconds: $0) }
    case ("registrations", 4):
      return try seconds(arguments[1]).map {
        try RegistrationMeasure.run(seconds: $0, leafPath: arguments[2], intermediatePath: arguments[3])
      }
    case ("android-keys", 3):
      return try seconds(arguments[1]).map { try AndroidKeyMeasure.run(seconds: $0, folder: arguments[2]) }
    case ("bodies", 5):
      return try RegistrationBodies.make(
        authority: arguments[1], appID: arguments[2], noncesPath: arguments[3], bodiesPath: arguments[4])
    case ("enrollments", 6):
      return try EnrollmentBodies.make(
        authority: arguments[1], app: arguments[2], server: arguments[3], noncesPath: arguments[4],
        bodiesPath: arguments[5])
    case ("play-phones", 4):
      return try Int(arguments[2]).map {
        try PlayPhones.make(folder: arguments[1], count: $0, path: arguments[3])
      }
    case ("attestations", 7):
      return try PlayPhones.attest(
        authority: arguments[1], app: arguments[2], server: arguments[3], phonesPath: arguments[4],
        noncesPath: arguments[5], bodiesPath: arguments[6])
    case ("store-make", 3):
      return try Int(arguments[2]).map { try StoreMeasure.make(folder: arguments[1], keys: $0) }
    case ("store-measure", 3):
      return try seconds(arguments[2]).map { try StoreMeasure.run(folder: arguments[1], seconds: $0) }
    case ("commits", 3):
      return try seconds(arguments[2]).map { try CommitMeasure.run(folder: arguments[1], seconds: $0) }
    case ("registry-make", 3):
      return try Int(arguments[2]).map { try RegistryMeasure.make(folder: arguments[1], rows: $0) }
    case ("registry-measure", 2):
      return try RegistryMeasure.run(folder: arguments[1])
    case ("registry-commits", 3):
      return try seconds(arguments[2]).map {
        try RegistryCommitMeasure.run(folder: arguments[1], seconds: $0)
      }
    case ("phones", 5):
      return try Int(arguments[2]).map {
        try DecisionPhones.make(folder: arguments[1], count: $0, publicURL: arguments[3], path: arguments[4])
      }
    case ("play", 2):
      return try seconds(arguments[1]).map { try PlayMeasure.run(seconds: $0) }
    case ("scrapes", 3):
      return try seconds(arguments[2]).map { try ScrapeMeasure.run(folder: arguments[1], seconds: $0) }
    case ("slots", 2):
      return try seconds(arguments[1]).map { try SlotMeasure.run(seconds: $0) }
    default:
      return nil
    }
  }

  private static func seconds(_ text: String) -> Double? {
    Double(text).flatMap { $0 > 0 ? $0 : nil }
  }
}

/// A measure that cannot be believed.
struct Broken: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}
