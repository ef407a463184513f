/// Whom the operator lets in: apps, environments, and ways of launching them.
internal import Bytes
package import Identity

package struct AttestationPolicy: Sendable {
  package let apps: [AppID]
  package let environments: Set<AttestEnvironment>
  package let launch: LaunchPolicy

  package init(
    apps: [AppID], environments: Set<AttestEnvironment> = [.production], launch: LaunchPolicy = .any
  ) {
    self.apps = apps
    self.environments = environments
    self.launch = launch
  }

  /// Whether a key registered with these is still served; what an older key file does not know passes.
  package func serves(appID: AppID?, environment: AttestEnvironment?) -> Bool {
    if let appID, !apps.contains(appID) { return false }
    if let environment, !environments.contains(environment) { return false }
    return true
  }

  /// Why an assertion that was found good under an earlier policy is not so under this one.
  /// - Parameter environment: where its key was attested, if the store says.
  package func objection(to assertion: ValidatedAssertion, environment: AttestEnvironment?) -> AssertionError?
  {
    if !apps.contains(assertion.appID) { return .appNotConfigured }
    if !serves(appID: nil, environment: environment) { return .environmentNotAllowed }
    let launch = LaunchInformation(
      validationCategory: assertion.validationCategory, bundleVersion: assertion.bundleVersion)
    return self.launch.allows(launch) ? nil : .launchPolicy
  }

  /// The app that a key file means by `text`: the configured one, else whatever app it names.
  package func app(named text: String) -> AppID? {
    apps.first { $0.description == text } ?? AppID(text)
  }

  /// The configured app with this hash.
  func app(rpIDHash: Bytes32) -> AppID? {
    apps.first { $0.rpIDHash.equalsInConstantTime(rpIDHash) }
  }
}
