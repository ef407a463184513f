/// The arrows between the folders of Gateway, the one module that is a circle still: each points downwards, or has a reason.
import Foundation
import Kit
import Testing

@Suite struct FolderTests {
  private struct Arrow: Hashable, CustomStringConvertible {
    let from: String
    let to: String
    /// The type that a file of `from` names and one of `to` declares.
    let name: String

    var description: String { "\(from) names \(name) of \(to)" }
  }

  /// The lowest first; the last is what lies in no folder.
  private static let order = [
    "Session", "Connection", "Admission", "Exchange", "Conversation", "Devices", "Shared", "Loop", "Keeping",
    "Gateway",
  ]

  /// What points upwards, and why it may. A line goes when its arrow has gone.
  private static let allowed: [(from: String, to: String, names: [String], because: String)] = [
    (
      "Session", "Connection", ["ClientLeg", "Connection"],
      "a session is served by its connection, and writes on its leg"
    ),
    ("Session", "Admission", ["AdmissionAttempt"], "an admission that is over becomes a session"),
    ("Session", "Loop", ["DetachedList", "Loop"], "a pump has its loop's buffers and settings"),
    ("Connection", "Admission", ["AdmissionAttempt"], "a stage carries what belongs to it"),
    ("Connection", "Loop", ["Loop", "QueueFlags"], "a connection belongs to one loop, and is in its lists"),
    ("Admission", "Devices", ["DeviceProof"], "a device is let in by what its key has signed"),
    (
      "Admission", "Loop", ["Takeover", "TakeoverAnswer"],
      "a session that is resumed may live on another loop"
    ),
    ("Exchange", "Shared", ["Shared"], "an attestation is verified beside the loops"),
    ("Exchange", "Loop", ["Loop", "Mailbox"], "its answer comes through the loop's mailbox"),
    ("Conversation", "Loop", ["Loop"], "a game is read into its loop's buffer"),
    ("Devices", "Shared", ["Shared"], "what the registry says ends sessions of all loops"),
    (
      "Shared", "Loop", ["MemoryRebalancing", "Loop", "LoopMessage", "Mailbox"],
      "what all loops share is asked by all, and reaches them by their mailboxes"
    ),
    ("Shared", "Gateway", ["Gate"], "the numbers of a gate are those of what its loops share"),
    ("Loop", "Gateway", ["GateError"], "a door that does not open ends the start"),
    ("Keeping", "Gateway", ["Gate"], "a restart is the gate's last act"),
  ]

  private let files: [(folder: String, text: String)]

  init() throws {
    let gateway = Repository.folder.appending(path: "Sources/Gate/Gateway")
    let found = try #require(FileManager.default.enumerator(at: gateway, includingPropertiesForKeys: nil))
    var files: [(folder: String, text: String)] = []
    for case let file as URL in found where file.pathExtension == "swift" {
      let parent = file.deletingLastPathComponent().lastPathComponent
      files.append((parent, try String(contentsOf: file, encoding: .utf8)))
    }
    self.files = files
  }

  /// What is declared at the top level, by name.
  private func owners() -> [String: String] {
    var owners: [String: String] = [:]
    for (folder, text) in files {
      for line in text.matches(
        of: /(?m)^(?:(?:package|final|indirect) )*(?:struct|class|enum|protocol) (\w+)/)
      {
        owners[String(line.1)] = folder
      }
    }
    return owners
  }

  private func arrows() -> Set<Arrow> {
    let owners = owners()
    var arrows: Set<Arrow> = []
    for (folder, text) in files {
      let code = text.replacing(/(?m)\/\/.*$/, with: "").replacing(/"[^"\n]*"/, with: "")
        .replacing(/(?m)^.*\bimport \w+$/, with: "")
      for word in Set(code.matches(of: /\b[A-Z]\w*/).map { String($0.0) }) {
        if let owner = owners[word], owner != folder {
          arrows.insert(Arrow(from: folder, to: owner, name: word))
        }
      }
    }
    return arrows
  }

  @Test func foldersAreThose() {
    #expect(Set(files.map(\.folder)) == Set(Self.order))
    #expect(owners().count > 30)
  }

  @Test func arrowsPointDownwards() throws {
    var upwards: Set<Arrow> = []
    for arrow in arrows() {
      let from = try #require(Self.order.firstIndex(of: arrow.from))
      let to = try #require(Self.order.firstIndex(of: arrow.to))
      if to > from { upwards.insert(arrow) }
    }
    let allowed = Set(
      Self.allowed.flatMap { row in row.names.map { Arrow(from: row.from, to: row.to, name: $0) } })
    #expect(upwards.subtracting(allowed) == [], "point upwards without a reason")
    #expect(allowed.subtracting(upwards) == [], "have a reason and are gone")
    #expect(Self.allowed.allSatisfy { $0.because.count > 20 })
  }
}
