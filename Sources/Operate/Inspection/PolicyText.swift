/// Files of policies, or what is wrong with them and status 78; and what in one is allowed but seldom meant.
package import ApprovalPolicy
import Assembly
import Bytes
package import Risk

package enum PolicyText {
  /// What is allowed, and seldom meant; nil where there is nothing.
  package static func warning(_ policy: ApprovalPolicy) -> String? {
    let places = policy.placesForBarePhones
    guard let first = places.first else { return nil }
    let others = places.count > 1 ? " and \(places.count - 1) more" : ""
    return "\(first)\(others) takes phones at \"level\": \"bare\": a service with the scopes pairings and "
      + "approvals can pair a phone in software and approve what it asks itself; ask for app_attested, or give the "
      + "scopes to two services"
  }

  package static func approvals(_ path: String) throws -> ApprovalPolicy {
    try PolicyFile.approvals(path, named: PrintableText.field(path))
  }

  package static func assurance(_ path: String) throws -> AssurancePolicy {
    try PolicyFile.assurance(path, named: PrintableText.field(path))
  }

  package static func risk(_ path: String) throws -> RiskPolicy {
    try PolicyFile.risk(path, named: PrintableText.field(path))
  }
}
