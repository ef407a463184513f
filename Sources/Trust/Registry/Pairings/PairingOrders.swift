/// What an operator orders about pairings: `portcullis devices pair`.
internal import DeviceWire
internal import JSON

enum PairingOrders: OrderReader {
  static func call(_ verb: String, _ arguments: JSONObject) throws(FormError) -> (any RegistryCall)? {
    switch verb {
    case "pair-open":
      let arguments = try OrderArguments(arguments, "subject", "name")
      return OpenPairing(
        subject: try value(arguments, "subject") { Subject($0) },
        name: try value(arguments, "name") { DeviceName($0) })
    case "pair-status":
      // How long it waits is for whoever hands the call in.
      return PairingStatus(try id(try OrderArguments(arguments, "pairing_id", "wait")), of: .host)
    case "pair-confirm":
      let arguments = try OrderArguments(arguments, "pairing_id", "sas")
      guard let digits = PairingDigits(typed: try arguments.text("sas")) else { throw FormError("sas") }
      return ConfirmPairing(try id(arguments), of: .host, digits: digits)
    case "pair-browse":
      _ = try OrderArguments(arguments)
      return BrowsePairings()
    case "pair-burn": return BurnPairing(try id(try OrderArguments(arguments, "pairing_id")))
    default: return nil
    }
  }

  private static func id(_ arguments: OrderArguments) throws(FormError) -> PairingID {
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
