/// Looks at the user, certificates and folders of a start, and tells all that is wrong with them before it gives up: who
/// mends a configuration wants to do it once (docs/settings.md).
import Admin
import AppAttest
import ArgumentParser
import Bytes
import Configuration
import Confinement
import Identity
import Logging
import System
import TLS

struct StartInspection {
  let files: GateFiles
  /// Of `--config`.
  let file: String?
  /// For what is only worth a warning; nil where the start is given up anyway.
  var logger: Logger?

  /// What has passed.
  struct Passed: ~Copyable {
    let decision: ServingDecision
    /// Assumed.
    let credentials: Credentials
    let root: AttestationRoot
    let material: TLSMaterial
    /// Nil where it is to be made.
    let pseudonymKey: PseudonymKey?
    let devices: DeviceFiles
    let approvalUsers: ApprovalUsers
    let adminUsers: AdminUsers

    /// No way back from here.
    consuming func drop() throws(SystemError) { try credentials.drop() }
  }

  /// Reads what is read as whoever started the program, becomes the user of `RUN_AS` on trial, and looks what that one
  /// gets at.
  /// - Parameter material: from the files' contents, what stands in where none are named included.
  func pass(_ material: (TLSContents) throws -> TLSMaterial) throws -> Passed {
    let decision = Self.unlessTold { try Startup.servingDecision(files) }
    let root = Self.unlessTold { try Startup.attestationRoot(files) }
    let contents = Self.unlessTold { try Startup.tlsContents(files) }
    let devices = Self.unlessTold { try DeviceFiles.read(files) }
    let users = Self.unlessTold { try ApprovalUsers.find(files.approvalsSocket) }
    let adminUsers = Self.unlessTold { try AdminUsers.find(files) }
    guard let decision else { throw ExitStatus.configuration.code }
    let needs = FileNeeds.of(files, file: file)
    let credentials = Credentials(decision)
    do throws(SystemError) { try credentials.assume() } catch { throw Opening.refused(error) }
    var isHindered = false
    if case .becomes(let user) = decision { isHindered = hinders(needs, user, credentials) }
    let pseudonymKey = pseudonymKey(isToldOf: decision)
    let adminTokens = isHindered ? nil : Self.unlessTold { try AdminTokensByHand.read(files.admin) }
    guard let root, let contents, let pseudonymKey, let devices, let users, let adminUsers,
      adminTokens != nil, !isHindered
    else {
      throw ExitStatus.configuration.code
    }
    return Passed(
      decision: decision, credentials: credentials, root: root, material: try material(contents),
      pseudonymKey: pseudonymKey, devices: devices, approvalUsers: users, adminUsers: adminUsers)
  }

  /// As whom the gate serves, for it is a file of his folder.
  /// - Returns: nil when there was something to tell.
  private func pseudonymKey(isToldOf decision: ServingDecision) -> PseudonymKey?? {
    guard let file = PseudonymKeyFile(files) else { return .some(nil) }
    // That the user of `RUN_AS` may not read it has been told with the other files.
    if case .becomes = decision, WholeFile.exists(file.path), !EffectiveAccess.isGranted(file.path, [.read]) {
      return nil
    }
    return Self.unlessTold { try Startup.pseudonymKey(file) }
  }

  /// Of a configuration that is wrong already: what else is.
  func tellTheRest() throws {
    if files.isUserKnown {
      _ = try pass { _ in throw ExitStatus.configuration.code }
    } else {
      _ = Self.unlessTold { try Startup.attestationRoot(files) }
      _ = Self.unlessTold { try Startup.tlsContents(files) }
      _ = Self.unlessTold { try DeviceFiles.read(files) }
      _ = Self.unlessTold { try ApprovalUsers.find(files.approvalsSocket) }
      _ = Self.unlessTold { try AdminUsers.find(files) }
    }
  }

  /// Nil when there was something to tell, which has been told.
  private static func unlessTold<Part>(_ look: () throws -> Part) -> Part? { try? look() }

  /// What the user of `RUN_AS` does not get at: fatal, unless it is only for a later reload.
  private func hinders(
    _ needs: [FileNeed], _ user: ServingUser, _ credentials: borrowing Credentials
  ) -> Bool {
    var isHindered = false
    for need in needs where !EffectiveAccess.isGranted(need.path, need.wishes) {
      // As root, who sees all of the path.
      let reason = credentials.asStarted {
        need.hindrance(user.account) ?? "\(user) gets no access to \(need.setting)=\(need.path)"
      }
      if need.isForReload {
        logger?.warning(
          "unreadable_for_reload", metadata: ["reason": "\(reason)", "result": "SIGHUP will fail"])
      } else {
        complain("RUN_AS: \(reason), such as: chown \(user.user):\(user.group) \(need.path)")
        isHindered = true
      }
    }
    return isHindered
  }
}
