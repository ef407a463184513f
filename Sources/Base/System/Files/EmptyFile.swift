/// The command by which an operator makes an empty file that the gate can use, for messages.
package enum EmptyFile {
  /// Root gives it to the owner of the folder, as whom the gate serves; anybody else can only make one of his own.
  package static func command(_ path: String, shown: String) -> String {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    guard Account.effectiveUser == 0, let status = try? FileStatus.of(folder) else {
      return "install -m 600 /dev/null \(shown)"
    }
    let owner = AccountName.of(user: status.user).text ?? "\(status.user)"
    return "install -m 600 -o \(owner) /dev/null \(shown)"
  }
}
