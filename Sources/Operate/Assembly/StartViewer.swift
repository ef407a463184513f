/// As whom the files of a start are looked at, and what he does not get at: the user of `RUN_AS`, or, where that is missing
/// or refused, the one who most likely is to be named, so that the operator learns the rest in the same run.
import Bytes
import Configuration
import Confinement
import Logging
import Prompt
import System

enum StartViewer {
  /// Assumed on trial, so that the kernel says what he gets at.
  case becomes(ServingUser)
  /// The same where `RUN_AS` names nobody: the owner of the key store's folder.
  case wouldBecome(ServingUser)
  case asStarted
  /// Only root could become him: what can be said is what owners and modes say.
  case cannotBecome(ServingUser)

  /// - Parameters:
  ///   - decision: nil where `RUN_AS` is missing, refused or no user at all.
  ///   - assumed: what was gone by in its place.
  init(_ decision: ServingDecision?, assumed: ServingDecision, _ files: GateFiles) {
    switch (decision, assumed) {
    case (.becomes(let user), _): self = .becomes(user)
    case (nil, .becomes(let user)): self = .wouldBecome(user)
    case (nil, _):
      let wanted = files.isUserKnown ? files.runAs : nil
      let user = wanted.flatMap { try? ServingUser.find(user: $0.user, group: $0.group) }
      self = user.map { .cannotBecome($0) } ?? .asStarted
    case (.asStarted, _), (.staysRoot, _): self = .asStarted
    }
  }

  /// What to assume where nothing was decided.
  static func likely(_ files: GateFiles) -> ServingDecision {
    guard Account.effectiveUser == 0, let folder = files.storePath.map(FileNeeds.folder),
      let status = try? FileStatus.of(folder), status.user != 0
    else { return .asStarted }
    return .becomes(ServingUser.owner(user: status.user, group: status.group))
  }

  /// Whether he does not get at a file that is to be read: `tell` says so, if there is something to say.
  func cannotRead(_ path: String, _ needs: [FileNeed]) -> Bool {
    // The code that reads it says why not.
    if case .asStarted = self { return false }
    return needs.contains { need in
      need.path == path && !EffectiveAccess.isGranted(path, [.read])
        || need.path == FileNeeds.folder(of: path) && !EffectiveAccess.isGranted(need.path, [.search])
    }
  }

  /// Tells what he does not get at: fatal, unless it is only for a later reload.
  /// - Parameter isRefused: the start is given up for something else. Whoever serves as he has started finds by himself what
  ///   he may not write to, and ends with a status of its own; only beside other problems it is told here.
  /// - Returns: whether there was something to tell.
  func tell(
    _ needs: [FileNeed], _ credentials: borrowing Credentials, beside isRefused: Bool, _ logger: Logger?
  ) -> Bool {
    var isHindered = false
    for need in needs {
      guard let reason = hindrance(need, credentials) else { continue }
      if need.isForReload {
        logger?.warning(
          "unreadable_for_reload", metadata: ["reason": "\(reason)", "result": "SIGHUP will fail"])
        continue
      }
      if case .asStarted = self, !isRefused { continue }
      complain(words(reason, need))
      isHindered = true
    }
    return isHindered
  }

  private func hindrance(_ need: FileNeed, _ credentials: borrowing Credentials) -> String? {
    switch self {
    case .becomes(let user), .wouldBecome(let user):
      if EffectiveAccess.isGranted(need.path, need.wishes) { return nil }
      // As root, who sees all of the path.
      return credentials.asStarted {
        need.hindrance(user.account) ?? "\(user) gets no access to \(need.setting)=\(need.path)"
      }
    case .asStarted:
      // Whatever is only read has been read.
      if !need.wishes.contains(.write) || EffectiveAccess.isGranted(need.path, need.wishes) { return nil }
      let account = Account.of(user: Account.effectiveUser)
      return need.hindrance(account) ?? "\(account) gets no access to \(need.setting)=\(need.path)"
    case .cannotBecome(let user): return need.obstacle(to: user.account)
    }
  }

  private func words(_ reason: String, _ need: FileNeed) -> String {
    switch self {
    case .becomes(let user), .cannotBecome(let user):
      "RUN_AS: \(reason), such as: chown \(user.user):\(user.group) \(need.path)"
    case .wouldBecome(let user):
      "RUN_AS=\(user.name), whose the key store's folder is: \(reason), such as: "
        + "chown \(user.user):\(user.group) \(need.path)"
    case .asStarted: reason
    }
  }
}
