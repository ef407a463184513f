/// A session with what an iPhone has.
#if canImport(DeviceCheck)
  public import Foundation

  extension AppKey {
    /// The key of this process at a gate: the same one for all sessions and the device, as long as one of them has it.
    /// - Parameters:
    ///   - gate: such as `https://play.example.com:8443`.
    ///   - transport: how the gate is reached where there is no such key yet.
    ///   - log: gets a line for each step where there is no such key yet.
    public static func of(
      _ gate: URL, transport: any GateTransport = URLSessionTransport(),
      log: (@Sendable (GameLogLine) -> Void)? = nil
    ) -> AppKey {
      table.key(of: GateAddress.authority(of: gate)) {
        AppKey(
          gate: gate, transport: transport, attestor: AppAttestor(), storage: KeychainStorage(), log: log)
      }
    }

    private static let table = KeyTable()
  }

  extension GameSession {
    /// A session over URLSession, vouched for by App Attest, remembered in the Keychain. It hears by itself of changes of
    /// the network.
    /// - Parameters:
    ///   - gate: such as `https://play.example.com:8443`.
    ///   - client: what the game is told of the app.
    ///   - name: of this session among those that the app has at this gate: each remembers its own.
    ///   - certificate: what vouches for the app in the simulator, where there is no App Attest.
    ///   - trust: which certificates of the gate's are taken.
    ///   - options: how hard it tries, and what it keeps.
    public init(
      gate: URL, client: ClientDescription, name: String = "main", certificate: ClientCertificate? = nil,
      trust: GateTrust = .system, options: GameOptions = GameOptions()
    ) {
      let transport = URLSessionTransport(certificate: certificate, trust: trust)
      let hasKey = AppAttestor().isSupported || certificate == nil
      self.init(
        gate: gate, client: client, name: name, transport: transport,
        key: hasKey ? AppKey.of(gate, transport: transport, log: options.log) : nil,
        storage: KeychainStorage(), options: options)
    }
  }
#endif
