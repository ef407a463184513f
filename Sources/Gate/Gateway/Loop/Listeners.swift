/// The listeners of all loops: those that the service manager kept, and new ones where there are none (docs/restarts.md,
/// "Restarts and upgrades").
internal import Addresses
internal import Configuration
internal import Sockets
internal import System

/// What was kept goes on as it is: whoever waits in its backlog is served by this process. It is not probed for another
/// gate, as the claim was made when it was bound and holds as long as somebody has it.
struct Listeners {
  /// A row for each loop.
  private(set) var rows: [[LoopListener]]
  /// In the order of `LISTEN`, with the port that the kernel chose where that says 0.
  private(set) var endpoints: [Endpoint] = []
  /// What the store is told of when all of them are open.
  private var added: [(listener: LoopListener, name: StoredName)] = []
  /// Those that have names in the store.
  private var indices: Set<Int>

  /// By which the store knows them.
  var names: [StoredName] { indices.sorted().map { .listener($0) } }

  /// - Parameters:
  ///   - stored: its listeners are taken, also those that `LISTEN` does not name any more, which are closed.
  ///   - store: is told of new ones, and of those that were closed.
  init(
    _ configuration: GateConfiguration, _ stored: inout StoredDescriptors, _ store: DescriptorStore?
  ) throws(GateError) {
    rows = [[LoopListener]](repeating: [], count: configuration.workers)
    indices = Set(stored.listeners)
    var kept = KeptListeners(&stored)
    for (wanted, listeners) in kept.take(configuration.listen) {
      do throws(SystemError) {
        try open(wanted, listeners)
      } catch {
        throw .listen(wanted, error)
      }
    }
    // Only now: a process that cannot start leaves the store as it was.
    if let store {
      kept.remove(from: store)
      tell(store)
    }
  }

  /// - Parameter kept: those on the address. Somebody may wait in each, so none is given up.
  private mutating func open(_ wanted: Endpoint, _ kept: [LoopListener]) throws(SystemError) {
    var endpoint = kept.first?.endpoint ?? wanted
    for index in 0..<max(rows.count, kept.count) {
      let listener = index < kept.count ? kept[index] : try bind(endpoint, claimsPort: index == 0)
      if let actual = listener.endpoint { endpoint = actual }
      // Fewer loops than before have several each.
      rows[index % rows.count].append(listener)
    }
    endpoints.append(endpoint)
  }

  /// The first of an address claims the port, so that a second gate there is noticed and not let in beside us.
  private mutating func bind(_ endpoint: Endpoint, claimsPort: Bool) throws(SystemError) -> LoopListener {
    let listener = LoopListener(
      try Listener(on: endpoint, sharesPort: true, claimsPort: claimsPort, accepted: .player))
    if let index = (0..<StoredName.limit).first(where: { !indices.contains($0) }) {
      indices.insert(index)
      added.append((listener, .listener(index)))
    }
    return listener
  }

  /// Of what is not said here, the next process binds a new one.
  private func tell(_ store: DescriptorStore) {
    for (listener, name) in added {
      guard let duplicate = try? listener.listener.socket.duplicate() else { continue }
      try? store.store(duplicate, as: name)
    }
  }
}

extension AcceptedOptions {
  fileprivate static let player = AcceptedOptions(
    receiveBufferBytes: 64 * 1024, sendBufferBytes: Connection.sendBufferBytes, unsentLowWater: 64 * 1024)
}

/// The listeners that were kept, by where they listen.
private struct KeptListeners {
  private var listeners: [(index: Int, endpoint: Endpoint?, listener: LoopListener)] = []

  init(_ stored: inout StoredDescriptors) {
    for index in stored.listeners {
      guard let descriptor = stored.takeListener(index) else { continue }
      let listener = LoopListener(Listener(kept: Socket(descriptor), accepted: .player))
      listeners.append((index, listener.endpoint, listener))
    }
  }

  /// To each address its own; port 0 goes on with the port that the kernel chose, unless another names that.
  mutating func take(_ wanted: [Endpoint]) -> [(Endpoint, [LoopListener])] {
    var taken = [[LoopListener]](repeating: [], count: wanted.count)
    for (index, endpoint) in wanted.enumerated() where endpoint.port != 0 { taken[index] = take(endpoint) }
    for (index, endpoint) in wanted.enumerated() where endpoint.port == 0 {
      guard
        let chosen = listeners.lazy.compactMap(\.endpoint).first(where: { $0.address == endpoint.address })
      else { continue }
      taken[index] = take(chosen)
    }
    return Array(zip(wanted, taken))
  }

  private mutating func take(_ endpoint: Endpoint) -> [LoopListener] {
    let taken = listeners.filter { $0.endpoint == endpoint }
    listeners.removeAll { $0.endpoint == endpoint }
    return taken.map(\.listener)
  }

  /// What nobody wants any more: with this, and with the list, it does not listen any longer.
  func remove(from store: DescriptorStore) {
    for (index, _, _) in listeners { try? store.remove(.listener(index)) }
  }
}
