/// Test vectors of `../shared/vectors`, a sibling of the repository; where they are not, the tests say so and
/// go on; in CI they fail.
import Foundation
import Obligation
import Testing

@testable import AppAttest
@testable import Bytes
@testable import System

struct VectorCase: Decodable, Sendable, CustomTestStringConvertible {
  struct Expectation: Decodable, Sendable {
    let result: String
    let check: String?
    let also: [String]?
  }

  struct Launch: Decodable, Sendable {
    let categories: [UInt32]?
    let bundle_versions: [String]?
    let require: Bool?
  }

  enum Environments: Decodable, Sendable {
    case one(String)
    case several([String])

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let one = try? container.decode(String.self) {
        self = .one(one)
      } else {
        self = .several(try container.decode([String].self))
      }
    }

    var names: [String] {
      switch self {
      case .one(let name): [name]
      case .several(let names): names
      }
    }
  }

  let name: String
  let kind: String
  let attestation_b64: String?
  let key_id_b64: String?
  let assertion_b64: String?
  let client_data_hash_b64: String?
  let challenge_b64: String?
  let client_data_b64: String?
  let team_id: String
  let bundle_id: String
  let environment: Environments?
  let verify_at: String?
  let root: String?
  let public_key_x963_b64: String?
  let previous_counter: UInt32?
  let launch_policy: Launch?
  let expect: Expectation

  var testDescription: String { name }
}

struct VectorSweep: Decodable, Sendable, CustomTestStringConvertible {
  let name: String
  let sweep: String
  let base: VectorCase

  var testDescription: String { name }
}

enum VectorFiles {
  static let packageRoot = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..")
    .standardizedFileURL
  static let folder = packageRoot.deletingLastPathComponent().appending(path: "shared/vectors")

  static func lines<Line: Decodable>(_ name: String, as: Line.Type = Line.self) -> [Line] {
    guard let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8) else {
      print("no test vectors at \(folder.path())\(name): nothing to test here")
      if Obligation.runs(false, "vectors") { Issue.record("no \(name)") }
      return []
    }
    return text.split(separator: "\n").map { line in
      do {
        return try JSONDecoder().decode(Line.self, from: Data(line.utf8))
      } catch {
        fatalError("\(name): \(error)")
      }
    }
  }

  /// Nil when the file is not there.
  static func count(_ name: String) -> Int? {
    contents(name).map { bytes in bytes.split(separator: UInt8(ascii: "\n")).count }
  }

  static func contents(_ name: String) -> [UInt8]? {
    (try? Data(contentsOf: folder.appending(path: name))).map(Array.init)
  }
}

/// What a verification says of a vector: nil is "accept".
struct Verdict: Equatable {
  let step: String?
}
