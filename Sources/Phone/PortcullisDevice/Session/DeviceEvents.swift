/// What a device tells its app without being asked.
public import PortcullisClient

/// Something that has changed.
public enum DeviceEvent: Equatable, Sendable {
  /// How the gate sees the phone.
  case standing(DeviceStanding)
  /// All requests that wait for a vote now.
  case approvals([Approval])
  /// All logins that wait for a code now.
  case logins([Login])
  /// The gate shows other keys from now on.
  case pins(Pins)
  /// A list could not be had. It is asked for again.
  case failure(DeviceFailure)
}

/// For one consumer: `for await event in session.events`.
public typealias DeviceEvents = AsyncStream<DeviceEvent>
