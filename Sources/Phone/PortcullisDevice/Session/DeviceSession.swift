/// A phone as a second factor of one gate: it belongs to it, votes, shows codes and says that it is near (docs/phone.md).
public import PortcullisClient
public import PortcullisProtocol

/// One device at one gate. It asks the machines what to do, and does it with keys, store and transport.
///
/// ```swift
/// let session = DeviceSession(name: "home", keys: keys, store: store, transport: transport)
/// try await session.pair(PairingCode(scanned), as: "Anna's phone") { digits in show(digits.text) }
/// for await event in session.events { show(event) }
/// ```
///
/// Calls may come from anywhere and at once: what asks the person, or changes keys, is done one after the other. No call
/// repeats by itself what the gate may have done already, but for a pairing, whose offer gets the same answer again.
public actor DeviceSession {
  /// By which the app knows it.
  public nonisolated let name: String
  /// The pins of now, for the transport that this session was given.
  public nonisolated let pins: DevicePins
  /// What changes without being asked for. Lists come while the app is in the foreground.
  public nonisolated let events: DeviceEvents

  let keys: any DeviceKeys
  let store: any DeviceStore
  let line: GateLine
  let voucher: (any DeviceVoucher)?
  let clock: GameClock
  let tell: DeviceEvents.Continuation

  var record: DeviceRecord?
  private var isLoaded = false
  var token: DeviceToken?
  private var turnstile = Turnstile()
  private var lastStanding: DeviceStanding = .none
  var inbox = InboxMachine()
  var polls: [InboxMachine.List: Task<Void, Never>] = [:]
  var expiry: Task<Void, Never>?

  /// Nothing is read, made or sent before something is asked for.
  /// - Parameters:
  ///   - name: by which the app knows it.
  ///   - keys: where its private keys are.
  ///   - store: where it is remembered.
  ///   - transport: how the gate is reached.
  ///   - pins: what the transport asks for the gate's keys at each connection.
  ///   - voucher: what vouches for the keys; nil: nothing, and the phone's level is `bare`.
  ///   - clock: what it measures time by.
  public init(
    name: String = "main", keys: any DeviceKeys, store: any DeviceStore, transport: any GateTransport,
    pins: DevicePins = DevicePins(), voucher: (any DeviceVoucher)? = nil, clock: GameClock = .system
  ) {
    self.name = name
    self.keys = keys
    self.store = store
    self.pins = pins
    self.voucher = voucher
    self.clock = clock
    line = GateLine(transport: transport)
    (events, tell) = DeviceEvents.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  deinit {
    for poll in polls.values { poll.cancel() }
    expiry?.cancel()
    tell.finish()
  }

  // MARK: What is remembered

  /// How the gate sees the phone, as far as this process knows.
  public var standing: DeviceStanding { lastStanding }

  /// The phone's id at its gate; nil: it belongs to none.
  public var device: DeviceID? {
    get async throws(DeviceFailure) { try await loaded()?.device }
  }

  /// All that is kept of it.
  package var remembered: DeviceRecord? {
    get async throws(DeviceFailure) { try await loaded() }
  }

  /// Read once. Whatever cannot be read now is not taken to be nothing.
  func loaded() async throws(DeviceFailure) -> DeviceRecord? {
    if isLoaded { return record }
    let found: DeviceRecord?
    do { found = try await store.load() } catch { throw DeviceFailure(ofStore: error) }
    // Who asked at the same time has had the answer.
    if isLoaded { return record }
    isLoaded = true
    record = found
    pins.set(found?.pins)
    if found?.device != nil, lastStanding == .none {
      lastStanding = .active(level: nil, userVerification: nil, subject: nil)
    }
    return found
  }

  /// The device that this is, or `notPaired`.
  func paired() async throws(DeviceFailure) -> (record: DeviceRecord, device: DeviceID, server: ServerID) {
    guard let record = try await loaded(), let device = record.device, let server = record.server else {
      throw .notPaired
    }
    return (record, device, server)
  }

  /// Changes what is remembered, in the store first.
  func remember(_ change: (inout DeviceRecord) -> Void) async throws(DeviceFailure) {
    guard var changed = try await loaded() else { throw .notPaired }
    change(&changed)
    try await keep(changed)
  }

  func keep(_ changed: DeviceRecord?) async throws(DeviceFailure) {
    if changed == record { return }
    do {
      if let changed { try await store.save(changed) } else { try await store.erase() }
    } catch {
      throw DeviceFailure(ofStore: error)
    }
    let before = record?.pins
    record = changed
    isLoaded = true
    pins.set(changed?.pins)
    if let new = changed?.pins, new != before { tell.yield(.pins(new)) }
  }

  /// Unix time in seconds, as the phone has it.
  var wall: Int64 { Int64(min(max(clock.wall(), 0), Double(UnixSeconds.largest))) }

  func stand(_ standing: DeviceStanding) {
    guard standing != lastStanding else { return }
    lastStanding = standing
    tell.yield(.standing(standing))
  }

  // MARK: One at a time

  func alone<Value: Sendable>(
    _ body: () async throws(DeviceFailure) -> Value
  ) async throws(DeviceFailure) -> Value {
    if !turnstile.enter() { await withCheckedContinuation { turnstile.enqueue($0) } }
    defer { turnstile.leave() }
    return try await body()
  }
}
