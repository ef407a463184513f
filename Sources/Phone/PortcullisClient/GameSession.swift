/// A player's stay in a game behind a gate, over as many connections as it takes (docs/app.md).
#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One session of `portcullis.v1`: it registers the device's key when it has to, connects, comes back after losses, counts
/// messages both ways, and sends again what the gate has not taken.
///
/// ```swift
/// let key = AppKey(gate: gate, transport: transport, attestor: attestor, storage: storage)
/// let session = GameSession(gate: gate, client: client, transport: transport, key: key, storage: storage)
/// for await event in session.events { show(event) }
/// ```
///
/// It lives as long as somebody holds it, or asks for its events; dropped before, its connection ends, and the character
/// stays in the game for as long as the gate keeps it.
public actor GameSession {
  nonisolated let owner: SessionOwner

  /// Nothing happens before an event is asked for.
  /// - Parameters:
  ///   - gate: such as `https://play.example.com:8443`, or with `wss`; a path is that of the upgrade.
  ///   - client: what the game is told of the app.
  ///   - name: of this session among those that the app has at this gate: each remembers its own.
  ///   - transport: how the gate is reached.
  ///   - key: what vouches for the app, one for all sessions of the process; nil where the transport does, by a client
  ///     certificate.
  ///   - storage: where the session is remembered between starts of the app.
  ///   - options: how hard it tries, and what it keeps.
  ///   - clock: what it measures time by.
  public init(
    gate: URL, client: ClientDescription, name: String = "main", transport: any GateTransport, key: AppKey?,
    storage: any GameStorage, options: GameOptions = GameOptions(), clock: GameClock = .system
  ) {
    let memory = SessionMemory(
      storage, gate: GateAddress.authority(of: gate), name: name, log: GameLog(options.log))
    let admission = GateAdmission(gate, transport: transport, key: key, compression: options.compression)
    let machine = SessionMachine(
      policy: options, client: client, seed: .random(in: .min ... .max))
    owner = SessionOwner(
      machine, clock: clock, admission: admission, memory: memory,
      name: SessionName(name, among: key?.names ?? SessionNames()), pathChanges: { transport.pathChanges })
  }

  deinit { owner.drop() }

  // MARK: What happens

  /// For one consumer.
  public nonisolated var events: GameEvents { GameEvents(session: self) }

  /// False while the gate is silent though it was asked: `GameEvent.answering` says when that changes.
  public nonisolated var isAnswering: Bool { owner.look { $0.isAnswering } }

  /// Seconds that the last question took to the gate and back; nil: none has come back yet.
  public nonisolated var roundTrip: Double? { owner.look { $0.roundTrip } }

  // MARK: What the player does

  /// Sends a line of input, with the line end that it needs. From any thread; lines go in the order of the calls.
  ///
  /// While there is no connection, input waits: 64 lines, and 10 s unless the options say otherwise. Then comes
  /// `GameEvent.inputDropped`.
  /// - Parameter line: what was typed, without a line end.
  public nonisolated func send(_ line: String) throws(GameInputError) {
    try owner.send(Array((line + "\n").utf8))
  }

  /// Sends a message of GMCP to the game; with input, in the order of the calls.
  /// - Parameters:
  ///   - package: such as `Char.Skills.Get`: a letter, then up to 63 letters, digits, `_`, `.` and `-`.
  ///   - data: the text of one JSON value; nil: the name alone.
  public nonisolated func sendGMCP(_ package: String, _ data: String? = nil) throws(GameInputError) {
    try owner.send(gmcp: package, data: data)
  }

  /// Sends variables of MSDP to the game; with input, in the order of the calls.
  /// - Parameter data: the text of one JSON object, such as `{"REPORT":["HEALTH"]}`.
  public nonisolated func sendMSDP(_ data: String) throws(GameInputError) {
    try owner.send(msdp: data)
  }

  /// The text has another size now.
  /// - Parameters:
  ///   - columns: in characters.
  ///   - rows: in lines.
  public nonisolated func resize(columns: Int, rows: Int) {
    owner.update { client in
      client.columns = columns
      client.rows = rows
    }
  }

  /// What the app says of itself has changed: it wants other GMCP packages, say.
  public nonisolated func update(_ client: ClientDescription) {
    owner.update { $0 = client }
  }

  // MARK: What happens to the device

  /// The network is another one, or is back: a connection is tried at once, or the one there is, unless the gate has said
  /// when to come.
  public nonisolated func pathChanged() {
    owner.change { machine, now in machine.networkChanged(now: now) }
  }

  /// The player does not want to wait: tries now, unless the gate has said when to come.
  public nonisolated func retry() {
    owner.change { machine, now in machine.retry(now: now) }
  }

  /// The app is in the background, and may be stopped. What was handled is acknowledged and saved, and the connection ends;
  /// the session waits in the gate, and nobody tries to come back before `enterForeground()`. Calls of both take effect in
  /// their order.
  /// - Returns: a task that ends when there is no connection any more, after at most 15 seconds: so long the system should be
  ///   asked for.
  @discardableResult
  public nonisolated func enterBackground() -> Task<Void, Never> {
    startParting()
    return Task { [owner] in await owner.wait(for: .rest) }
  }

  /// The app is back in the foreground: comes back into the session at once.
  public nonisolated func enterForeground() {
    owner.change { machine, now in machine.enterForeground(now: now) }
  }

  // MARK: How it ends

  /// Leaves the character in the game, for as long as the gate keeps the session: another start of the app, or another
  /// `GameSession` with the same storage, comes back to it. Returns when the session is over here.
  public func leave() async {
    startLeaving()
    await owner.wait(for: .end)
  }

  /// Ends the session, in the game as well. Returns when it is over, after some seconds at most. Where there is no
  /// connection the gate cannot be told, and keeps the session until its time is over.
  public func close() async {
    finish(whenSent: false)
    await owner.wait(for: .end)
  }
}
