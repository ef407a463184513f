/// What an operator orders about pairings: `portcullis devices pair`.
internal import DeviceWire

enum PairingOrders {
  static func open(_ arguments: OrderArguments) throws(FormError) -> OpenPairing {
    OpenPairing(
      subject: try value(arguments, "subject") { Subject($0) },
      name: try value(arguments, "name") { DeviceName($0) })
  }

  /// How long it waits is for whoever hands the call in.
  static func status(_ arguments: OrderArguments) throws(FormError) -> PairingStatus {
    PairingStatus(try id(arguments), of: .host)
  }

  static func confirm(_ arguments: OrderArguments) throws(FormError) -> ConfirmPairing {
    guard let digits = PairingDigits(typed: try arguments.text("sas")) else { throw FormError("sas") }
    return ConfirmPairing(try id(arguments), of: .host, digits: digits)
  }

  static func id(_ arguments: OrderArguments) throws(FormError) -> PairingID {
    guard let id = PairingID(try arguments.text("pairing_id")) else { throw FormError("pairing_id") }
    return id
  }

  private static func value<Value>(
    _ arguments: OrderArguments, _ name: String, _ read: (String) -> Value?
  ) throws(FormError) -> Value? {
    guard let text = try arguments.optionalText(name) else { return nil }
    guard let value = read(text) else { throw FormError(name) }
    return value
  }
}
