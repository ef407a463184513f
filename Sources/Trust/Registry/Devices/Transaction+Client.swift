/// Which versions of the app are served: one that says that it is older than its subject's class allows is told to update.
internal import ApprovalPolicy
internal import PortcullisProtocol

extension Transaction {
  /// Nobody is kept out for saying nothing, as such an app proves no less than one that says what it likes. A version that
  /// cannot be read is below all others.
  func requireClient(of subject: Subject?) throws(CallFailure) {
    guard let clientVersion, let least = settings.assurance.assurance(of: subject?.name).minAppVersion else {
      return
    }
    guard let version = AppVersion(clientVersion), version >= least else {
      throw .refused(.clientOutdated, "client_version")
    }
  }
}
