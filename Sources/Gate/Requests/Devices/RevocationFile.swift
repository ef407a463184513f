/// The file of revoked certificates, which somebody fetches from Google from time to time: read again whenever it has
/// changed, and then all devices are judged by it again (docs/devices-messages.md, "Evidence").
internal import AndroidKey
internal import Bytes
package import Registry
internal import Synchronization
internal import System
package import Telemetry
package import Time

package final class RevocationFile: Sendable {
  private struct State {
    var reading: RevocationReading?
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
  var reading: RevocationReading? { state.withLock { $0.reading } }

  /// Asked every second by the housekeeper, after a reload, and before a start, which waits for what that orders.
  package func attend(
    _ settings: AndroidEvidence.Settings, _ registry: Registry, now: UnixTime, _ log: GateLogger,
    _ orders: StartOrders
  ) {
    turn.withLock { _ in
      read(settings.revocationPath, log)
      tellOfAge(settings.revocationMaximumAge, now, log)
      tell(registry, orders)
    }
  }

  // MARK: Reading

  private func read(_ path: String?, _ log: GateLogger) {
    guard let path else { return state.withLock { $0.reading = nil } }
    do throws(SystemError) {
      guard let next = try RevocationReading.of(path, unless: reading?.stamp) else { return }
      state.withLock { state in
        state.reading = next
        state.failure = nil
      }
      switch next.contents {
      case .success(let list): log.revocationsRead(list.count, next.stamp.modifiedAt)
      case .failure(let error): log.revocationsUnusable("\(error)")
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

  private func tellOfAge(_ maximum: Duration, _ now: UnixTime, _ log: GateLogger) {
    let age = reading?.age(at: now)
    let isStale =
      age.map { !RevocationList.isCurrent(age: $0, maximum: maximum.components.seconds) } ?? false
    let isNews = state.withLock { state in
      defer { state.isStale = isStale }
      return isStale && !state.isStale
    }
    if isNews, let age { log.revocationsStale(seconds: age) }
  }

  // MARK: The registry

  /// Until it has taken the list: its queue may be full, and its disk may fail.
  private func tell(_ registry: Registry, _ orders: StartOrders) {
    guard let reading, let list = reading.list, let digest = reading.digest else { return }
    let isNews = state.withLock { state in
      defer { state.judged = digest }
      return state.judged != digest
    }
    guard isNews else { return }
    let revoked = RevokedSerials(
      digest: digest, contains: { list.contains(CertificateSerial(magnitude: $0.bytes.span)) },
      all: { list.all.compactMap(\.stored) })
    let done = orders.add()
    let handle = registry.submit(JudgeSerials(revoked), lane: .host, origin: .gate) { [weak self] reply in
      if case .refused = reply { self?.forget(digest) }
      done()
    }
    if handle == nil {
      forget(digest)
      done()
    }
  }

  private func forget(_ digest: Bytes32) {
    state.withLock { state in
      if state.judged == digest { state.judged = nil }
    }
  }
}
