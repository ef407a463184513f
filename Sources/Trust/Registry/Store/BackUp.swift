/// Copies the store beside itself: `devices backup`.

/// The copy holds the row that tells of it.
struct BackUp: RegistryCall {
  private let name: String

  init(_ arguments: OrderArguments) throws(FormError) {
    let name = try arguments.text("name")
    // A plain name, that no path leads out of the folder by and that is no option to whoever handles the file later.
    let isPlain = name.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        || [0x2B, 0x2D, 0x2E, 0x3A, 0x5F].contains(byte)
    }
    guard isPlain, (1...128).contains(name.utf8.count), !name.hasPrefix("."), !name.hasPrefix("-") else {
      throw FormError("name")
    }
    self.name = name
  }

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    try transaction.record(.backedUp, .word("name", name))
    return .copy(named: name)
  }
}
