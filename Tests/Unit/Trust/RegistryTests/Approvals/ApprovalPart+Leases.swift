/// Approvals with a lease, as a service has them in hand.
import Testing

@testable import Registry

extension ApprovalPart {
  /// What was asked for, with the votes of these phones, and the lease that it gave.
  func leased(
    _ service: String, _ phones: [Phone], _ lease: String = #"{"ttl_s":60,"uses":3}"#
  ) throws -> (asked: Answer, lease: String) {
    let asked = try ask(service, #","lease":\#(lease)"#)
    for phone in phones { _ = try vote(phone, on: asked) }
    return (asked, try #require(try show(asked.id, service).lease))
  }
}
