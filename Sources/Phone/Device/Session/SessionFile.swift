/// What a session of the app's package remembers on Linux: a JSON file of mode 0600, written whole or not at all.
internal import Bytes
internal import Dialing
internal import JSON
internal import PortcullisClient
internal import System

struct SessionFile: SessionStorage {
  let path: String

  func load() async throws -> SavedSession? {
    guard WholeFile.exists(path) else { return nil }
    let bytes = try WholeFile.read(path)
    guard let object = (try? JSONValue(parsing: bytes.span, depthLimit: 2))?.object,
      let gate = object["gate"]?.string
    else { return nil }
    let counts = ["received", "handled"].map { object[$0]?.integer.flatMap { Int(exactly: $0) } ?? -1 }
    guard counts.allSatisfy({ $0 >= 0 }) else { return nil }
    return SavedSession(
      gate: gate, keyID: object["keyId"]?.string, sessionID: object["session"]?.string, received: counts[0],
      handled: counts[1])
  }

  func save(_ session: SavedSession) async throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("gate")
    writer.value(session.gate)
    if let keyID = session.keyID {
      writer.name("keyId")
      writer.value(keyID)
    }
    if let sessionID = session.sessionID {
      writer.name("session")
      writer.value(sessionID)
    }
    writer.name("received")
    writer.value(session.received)
    writer.name("handled")
    writer.value(session.handled)
    writer.endObject()
    try WholeFile.write(writer.bytes + [UInt8(ascii: "\n")], to: path, mode: 0o600, overwriting: true)
  }
}

/// Any storage beside a software enclave: the key is the enclave's, whatever was saved.
struct EnclaveStorage: SessionStorage {
  let storage: any SessionStorage
  let gate: String
  let enclavePath: String
  let failure: LastFailure

  func load() async throws -> SavedSession? {
    // A file that holds something else holds no session.
    var saved = SavedSession(gate: gate)
    do {
      if let found = try await storage.load(), found.gate == gate { saved = found }
    } catch SessionStorageError.locked {
      throw SessionStorageError.locked
    } catch {}
    do throws(DeviceError) {
      saved.keyID = try SoftwareEnclave.load(from: enclavePath).keyIdentifier.base64
    } catch {
      failure.note(.device(error))
      saved.keyID = nil
    }
    return saved
  }

  func save(_ session: SavedSession) async throws { try await storage.save(session) }
}
