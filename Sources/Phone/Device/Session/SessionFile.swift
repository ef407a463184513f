/// What the app's package remembers on Linux: a JSON file of mode 0600 with a member for each entry, written whole or not at
/// all.
internal import Bytes
internal import Dialing
internal import JSON
internal import PortcullisClient
internal import System

actor SessionFile: GameStorage {
  private let path: String

  init(path: String) {
    self.path = path
  }

  func load(_ entry: GameEntry) async throws -> [UInt8]? {
    try entries().first { $0.name == entry.name }.map { Array($0.text.utf8) }
  }

  func save(_ bytes: [UInt8]?, as entry: GameEntry) async throws {
    // What cannot be read is replaced: it holds nothing that anybody could use.
    var entries = ((try? entries()) ?? []).filter { $0.name != entry.name }
    if let bytes { entries.append((entry.name, String(decoding: bytes, as: UTF8.self))) }
    var writer = JSONWriter()
    writer.beginObject()
    for (name, text) in entries {
      writer.name(name)
      writer.value(text)
    }
    writer.endObject()
    try WholeFile.write(writer.bytes + [UInt8(ascii: "\n")], to: path, mode: 0o600, overwriting: true)
  }

  private func entries() throws -> [(name: String, text: String)] {
    guard WholeFile.exists(path) else { return [] }
    let bytes = try WholeFile.read(path)
    guard let object = (try? JSONValue(parsing: bytes.span, depthLimit: 2))?.object else {
      throw GameStorageError.broken("\(path) is no JSON object")
    }
    return object.members.compactMap { member in member.value.string.map { (member.name, $0) } }
  }
}

/// The key that a software enclave has and the gate knows already, whatever is saved elsewhere.
struct EnclaveKeyStorage: GameStorage {
  let keyID: String

  func load(_ entry: GameEntry) async throws -> [UInt8]? {
    AppKeyRecord(key: AppKeyRecord.Key(id: keyID, stage: .registered)).bytes
  }

  func save(_ bytes: [UInt8]?, as entry: GameEntry) async throws {}
}
