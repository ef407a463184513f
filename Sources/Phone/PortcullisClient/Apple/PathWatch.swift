/// Hears of each change of the network, on Apple's platforms.
#if canImport(DeviceCheck)
  internal import Network

  final class PathWatch: @unchecked Sendable {
    // `last` is touched on the main queue alone; the monitor may be ended from any thread.
    private let monitor = NWPathMonitor()
    private var last: NWPath?

    /// For as long as somebody waits for the next one.
    static func changes() -> AsyncStream<Void> {
      AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
        let watch = PathWatch()
        watch.monitor.pathUpdateHandler = { path in
          if watch.isChange(path) { continuation.yield() }
        }
        continuation.onTermination = { _ in
          watch.monitor.pathUpdateHandler = nil
          watch.monitor.cancel()
        }
        watch.monitor.start(queue: .main)
      }
    }

    /// The first one is the network that there is.
    private func isChange(_ path: NWPath) -> Bool {
      defer { last = path }
      return last != nil && path != last && path.status == .satisfied
    }
  }
#endif
