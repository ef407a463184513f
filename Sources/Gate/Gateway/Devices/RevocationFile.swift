/// The file of revoked certificates, which somebody fetches from Google from time to time: read again whenever it has
/// changed, and then all devices are judged by it again (docs/devices.md, "Evidence").
internal import AndroidKey
internal import Bytes
internal import Crypto
internal import Registry
internal import Synchronization
internal import System

final class RevocationFile: Sendable {
  struct Reading: Sendable {
    /// Nil when the file is none that can be read: nothing is attested then.
    let list: RevocationList?
    /// SHA-256 of the file.
    let digest: Bytes32
    let stamp: FileStamp

    /// In seconds, negative where the file is of a time to come.
    func age(at now: UnixTime) -> Int64 { now.seconds - stamp.modifiedAt.seconds }
  }

  private struct State {
    var reading: Reading?
    /// By which the registry judges.
    var judged: Bytes32?
    var isStale = false
    /// Said once, until there is another.
    var failure: String?
  }

  private let state = Mutex(State())
  /// Held while the file is read, which no loop and no verification waits for.
  private let turn = Mutex<Void>(())

  /// As it was last; nil when there is none.
  var reading: Reading? { state.withLock { $0.reading } }

  /// Asked every second by the housekeeper, and after a start and a reload.
  func attend(_ settings: AndroidEvidence.Settings, _ registry: Registry, now: UnixTime, _ log: GateLogger) {
    turn.withLock { _ in
      read(settings.revocationPath, log)
      tellOfAge(settings.revocationMaximumAge, now, log)
      tell(registry)
    }
  }

  // MARK: Reading

  private func read(_ path: String?, _ log: GateLogger) {
    guard let path else { return state.withLock { $0.reading = nil } }
    do throws(SystemError) {
      // Taken before the bytes: what is written meanwhile is another stamp the next time.
      let stamp = try FileStamp.of(path)
      if reading?.stamp == stamp { return }
      let bytes = try WholeFile.read(path, limit: RevocationList.maximumBytes)
      let digest = SHA256.hash(bytes.span)
      do throws(RevocationListError) {
        let list = try RevocationList(json: bytes.span)
        take(Reading(list: list, digest: digest, stamp: stamp))
        log.revocationsRead(list.count, stamp.modifiedAt)
      } catch {
        take(Reading(list: nil, digest: digest, stamp: stamp))
        log.revocationsUnusable("\(error)")
      }
    } catch {
      let reason = "\(error)"
      let isNews = state.withLock { state in
        state.reading = nil
        defer { state.failure = reason }
        return state.failure != reason
      }
      if isNews { log.revocationsUnusable(reason) }
    }
  }

  private func take(_ reading: Reading) {
    state.withLock { state in
      state.reading = reading
      state.failure = nil
    }
  }

  private func tellOfAge(_ maximum: Duration, _ now: UnixTime, _ log: GateLogger) {
    let age = reading?.age(at: now)
    let isStale = age.map { $0 > maximum.components.seconds } ?? false
    let isNews = state.withLock { state in
      defer { state.isStale = isStale }
      return isStale && !state.isStale
    }
    if isNews, let age { log.revocationsStale(seconds: age) }
  }

  // MARK: The registry

  /// Until it has taken the list: its queue may be full, and its disk may fail.
  private func tell(_ registry: Registry) {
    guard let reading, let list = reading.list else { return }
    let digest = reading.digest
    let isNews = state.withLock { state in
      defer { state.judged = digest }
      return state.judged != digest
    }
    guard isNews else { return }
    let revoked = RevokedSerials(digest: digest) { serial in
      CertificateSerial(magnitude: serial.bytes.span).map(list.contains) ?? false
    }
    let handle = registry.submit(JudgeSerials(revoked), lane: .host, origin: .gate) { [weak self] reply in
      if case .refused = reply { self?.forget(digest) }
    }
    if handle == nil { forget(digest) }
  }

  private func forget(_ digest: Bytes32) {
    state.withLock { state in
      if state.judged == digest { state.judged = nil }
    }
  }
}
