/// Looks at the user, certificates and folders of a start, and tells all that is wrong with them before it gives up: who
/// mends a configuration wants to do it once (docs/settings.md).
import Admin
package import AppAttest
package import Configuration
package import Confinement
package import Identity
package import Logging
import Prompt
package import System
package import TLS

package struct StartInspection {
  package let files: GateFiles
  /// Of `--config`.
  package let file: String?
  /// For what is only worth a warning; nil where the start is given up anyway.
  package var logger: Logger?

  package init(files: GateFiles, file: String?, logger: Logger? = nil) {
    (self.files, self.file, self.logger) = (files, file, logger)
  }

  /// What has passed.
  package struct Passed: ~Copyable {
    package let decision: ServingDecision
    /// Assumed.
    package let credentials: Credentials
    package let root: AttestationRoot
    package let material: TLSMaterial
    /// Nil where it is to be made.
    package let pseudonymKey: PseudonymKey?
    package let devices: DeviceFiles
    package let approvalUsers: ApprovalUsers
    package let adminUsers: AdminUsers

    /// No way back from here.
    package consuming func drop() throws(SystemError) { try credentials.drop() }
  }

  /// Reads what is read as the user who started the program, becomes the user of `RUN_AS` on trial, and looks what that one
  /// gets at. Where nobody can say whom the gate would be, it looks as whom it most likely is to be.
  /// - Parameters:
  ///   - isGivenUp: something was told already.
  ///   - material: from the files' contents, what stands in where none are named included.
  package func pass(isGivenUp: Bool = false, _ material: (TLSContents) throws -> TLSMaterial) throws -> Passed
  {
    let decision = files.isUserKnown ? Self.unlessTold { try Startup.servingDecision(files) } : nil
    let root = Self.unlessTold { try Startup.attestationRoot(files) }
    let contents = Self.unlessTold { try Startup.tlsContents(files) }
    let devices = Self.unlessTold { try DeviceFiles.read(files) }
    let users = Self.unlessTold { try ApprovalUsers.find(files.approvalsSocket) }
    let adminUsers = Self.unlessTold { try AdminUsers.find(files) }
    let needs = FileNeeds.of(files, file: file)
    let assumed = decision ?? StartViewer.likely(files)
    let credentials = Credentials(assumed)
    do throws(SystemError) { try credentials.assume() } catch { throw Startup.refusal(error) }
    let viewer = StartViewer(decision, assumed: assumed, files)
    let (pseudonymKey, hasTokens) = (pseudonymKey(viewer, needs), hasTokens(viewer, needs))
    let hasDevices = Self.unlessTold { try DevicesStoreFile.mustNotBeLost(files.devicesPath) } != nil
    let isRefused =
      isGivenUp || decision == nil || root == nil || contents == nil || pseudonymKey == nil || devices == nil
      || users == nil || adminUsers == nil || !hasTokens || !hasDevices
    let isHindered = viewer.tell(needs, credentials, beside: isRefused, logger)
    guard let decision, let root, let contents, let pseudonymKey, let devices, let users, let adminUsers,
      !isRefused, !isHindered
    else {
      throw ExitStatus.configuration
    }
    return Passed(
      decision: decision, credentials: credentials, root: root, material: try material(contents),
      pseudonymKey: pseudonymKey, devices: devices, approvalUsers: users, adminUsers: adminUsers)
  }

  /// As whom the gate serves, for it is a file of his folder.
  /// - Returns: nil when there was something to tell.
  private func pseudonymKey(_ viewer: StartViewer, _ needs: [FileNeed]) -> PseudonymKey?? {
    guard let file = PseudonymKeyFile(files) else { return .some(nil) }
    return viewer.cannotRead(file.path, needs) ? nil : Self.unlessTold { try Startup.pseudonymKey(file) }
  }

  /// Whether those of the admin listener, if there is one, can be read.
  private func hasTokens(_ viewer: StartViewer, _ needs: [FileNeed]) -> Bool {
    if files.admin.isOn, viewer.cannotRead(files.admin.tokensPath, needs) { return false }
    return Self.unlessTold { try AdminTokensByHand.read(files.admin) } != nil
  }

  /// Of a configuration that is wrong already: what else is.
  package func tellTheRest() throws {
    _ = try pass(isGivenUp: true) { _ in throw ExitStatus.configuration }
  }

  /// Nil when there was something to tell, which has been told.
  private static func unlessTold<Part>(_ look: () throws -> Part) -> Part? { try? look() }
}
