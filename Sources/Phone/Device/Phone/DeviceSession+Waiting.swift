/// How somebody waits for what comes who has no screen: as an app in the foreground hears of it.
package import PortcullisDevice

extension DeviceSession {
  /// The newest login that is open, or the next one that comes, among those that are wanted.
  package func login(where isWanted: @Sendable (Login) -> Bool) async throws(DeviceFailure) -> Login {
    if let login = try await logins().last(where: isWanted) { return login }
    enterForeground()
    for await event in events {
      switch event {
      case .logins(let logins): if let login = logins.last(where: isWanted) { return login }
      case .failure(let failure): throw failure
      case .standing, .approvals, .pins: break
      }
    }
    throw DeviceFailure(.cancelled, "the phone's session has ended")
  }

  /// Shows each request that was not there before, for ever.
  package func approvals(after shown: [Approval], show: @Sendable ([Approval]) -> Void)
    async throws(DeviceFailure)
  {
    var known = Set(shown.map(\.id))
    enterForeground()
    for await event in events {
      switch event {
      case .approvals(let approvals):
        show(approvals.filter { !known.contains($0.id) })
        known.formUnion(approvals.map(\.id))
      case .failure(let failure): throw failure
      case .standing, .logins, .pins: break
      }
    }
  }
}
