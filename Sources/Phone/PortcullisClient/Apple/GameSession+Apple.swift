/// A session with what an iPhone has.
#if canImport(DeviceCheck)
  public import Foundation
  internal import Network

  extension GameSession {
    /// A session over URLSession, vouched for by App Attest, remembered in the Keychain. It hears by itself of changes of
    /// the network.
    /// - Parameters:
    ///   - gate: such as `https://play.example.com:8443`.
    ///   - client: what the game is told of the app.
    ///   - certificate: what vouches for the app in the simulator, where there is no App Attest.
    ///   - options: how hard it tries, and what it keeps.
    public init(
      gate: URL, client: ClientDescription, certificate: ClientCertificate? = nil,
      options: GameOptions = GameOptions()
    ) {
      let hasAttestor = AppAttestor.isSupported || certificate == nil
      self.init(
        gate: gate, client: client, transport: URLSessionTransport(certificate: certificate),
        attestor: hasAttestor ? AppAttestor() : nil, storage: KeychainStorage(), options: options)
      PathWatch.begin(for: self)
    }
  }

  /// Tells a session of each change of the network, for as long as it lives.
  private final class PathWatch: @unchecked Sendable {
    // Touched on the main queue alone, once `begin` has returned.
    private let monitor = NWPathMonitor()
    private weak var session: GameSession?
    private var last: NWPath?

    static func begin(for session: GameSession) {
      let watch = PathWatch()
      watch.session = session
      // The monitor holds it, until the session is gone.
      watch.monitor.pathUpdateHandler = { watch.see($0) }
      watch.monitor.start(queue: .main)
    }

    private func see(_ path: NWPath) {
      guard let session else {
        monitor.pathUpdateHandler = nil
        return monitor.cancel()
      }
      // The first one is the network that there is.
      if last != nil, path != last, path.status == .satisfied { session.pathChanged() }
      last = path
    }
  }
#endif
