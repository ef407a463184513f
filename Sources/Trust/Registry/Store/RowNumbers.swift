/// Numbers of rows by which phones find their place: each is given once, also where rows have gone since, and whatever the
/// engine counts by itself.

extension StoreValue {
  /// The last number of a request for an approval.
  static let approvalNumber = "approval_number"
  /// The last number of a login that waited for a code.
  static let codeNumber = "code_number"
}

extension RegistryDatabase {
  /// 0 before the first. Written in digits.
  func lastNumber(_ name: String) throws(CallFailure) -> Int64 {
    guard let digits = try value(name) else { return 0 }
    guard let number = Int64(String(decoding: digits, as: UTF8.self)) else {
      throw .store(.broken("\(name) is not written in its form"))
    }
    return number
  }

  func nextNumber(_ name: String) throws(CallFailure) -> Int64 {
    let number = try lastNumber(name) + 1
    try setValue(name, Array("\(number)".utf8))
    return number
  }
}
