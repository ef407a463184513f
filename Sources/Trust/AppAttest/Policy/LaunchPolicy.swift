/// What the operator wants of the launch information that iOS 27 puts into authenticator data
/// (docs/app-attest.md, "Launch information").
package struct LaunchPolicy: Hashable, Sendable {
  /// Nil: any.
  package let allowedCategories: Set<UInt32>?
  /// As UTF-8, because versions are compared as bytes: Swift's strings are equal when only their code points
  /// differ. Nil: any.
  private let allowedBundleVersions: Set<[UInt8]>?
  /// Both members must be there; iOS 26 and older send none.
  package let requiresLaunchInformation: Bool

  package static let any = LaunchPolicy()

  package init(
    allowedCategories: Set<UInt32>? = nil, allowedBundleVersions: [String]? = nil,
    requiresLaunchInformation: Bool = false
  ) {
    self.allowedCategories = allowedCategories
    self.allowedBundleVersions = allowedBundleVersions.map { Set($0.map { Array($0.utf8) }) }
    self.requiresLaunchInformation = requiresLaunchInformation
  }

  /// What is absent passes, unless it is required.
  package func allows(_ information: LaunchInformation) -> Bool {
    if requiresLaunchInformation, information.validationCategory == nil || information.bundleVersion == nil {
      return false
    }
    if let allowedCategories, let category = information.validationCategory,
      !allowedCategories.contains(category)
    {
      return false
    }
    if let allowedBundleVersions, let version = information.bundleVersion,
      !allowedBundleVersions.contains(Array(version.utf8))
    {
      return false
    }
    return true
  }
}
