/// What waits for the person: fetched while the app is in the foreground, or once.
public import PortcullisClient
internal import PortcullisProtocol

extension DeviceSession {
  /// What is open now. By the device key alone, so that an extension may ask behind the lock screen.
  public func glance() async throws(DeviceFailure) -> Glance {
    Glance(approvals: try await openApprovals(nil).items, logins: try await openLogins(nil).items)
  }

  /// Requests that wait for a vote now.
  public func approvals() async throws(DeviceFailure) -> [Approval] { try await openApprovals(nil).items }

  /// Logins that wait for a code now.
  public func logins() async throws(DeviceFailure) -> [Login] { try await openLogins(nil).items }

  /// Lists come by `events` from now on.
  public func enterForeground() { act(on: inbox.take(.foreground)) }

  /// No lists come, and nothing is asked of the gate.
  public func enterBackground() { act(on: inbox.take(.background)) }

  /// A session of play with the same gate says what comes, so that no request waits for it: hand on its events.
  public func hear(_ event: GameEvent) {
    switch event {
    case .approvals: act(on: inbox.take(.told(.approvals)))
    case .codeWanted: act(on: inbox.take(.told(.logins)))
    case .state(.attached): act(on: inbox.take(.followed(true)))
    case .state: act(on: inbox.take(.followed(false)))
    default: break
    }
  }

  // MARK: Lists

  private func openApprovals(_ cursor: String?) async throws(DeviceFailure) -> OpenItems<Approval> {
    let object = try await object(.approvals(after: cursor))
    guard let open = OpenItems(object, { Approval($0) }, id: { $0.id.text }) else {
      throw .malformed("not a list of approvals")
    }
    return open
  }

  private func openLogins(_ cursor: String?) async throws(DeviceFailure) -> OpenItems<Login> {
    let object = try await object(.logins(after: cursor))
    guard let open = OpenItems(object, { Login($0) }, id: { $0.id.text }) else {
      throw .malformed("not a list of logins")
    }
    return open
  }

  func act(on actions: [InboxMachine.Action]) {
    for action in actions {
      switch action {
      case .fetch(let list, let cursor):
        polls[list]?.cancel()
        polls[list] = Task { [weak self] in await self?.fetch(list, cursor) }
      case .abandon(let list):
        polls[list]?.cancel()
        polls[list] = nil
      case .pause(let list, let seconds):
        polls[list]?.cancel()
        polls[list] = Task { [weak self, clock] in
          guard (try? await clock.sleep(seconds)) != nil else { return }
          await self?.goOn(list)
        }
      case .showApprovals: tell.yield(.approvals(inbox.approvals))
      case .showLogins: tell.yield(.logins(inbox.logins))
      }
    }
    watchExpiry()
  }

  private func fetch(_ list: InboxMachine.List, _ cursor: String?) async {
    let news: InboxMachine.News
    do throws(DeviceFailure) {
      switch list {
      case .approvals:
        let open = try await openApprovals(cursor)
        news = .approvals(open.items, cursor: open.cursor)
      case .logins:
        let open = try await openLogins(cursor)
        news = .logins(open.items, cursor: open.cursor)
      }
    } catch {
      if Task.isCancelled { return }
      tell.yield(.failure(error))
      return act(on: inbox.take(.failed(list, retryAfter: error.retryAfter)))
    }
    // What came too late belongs to a request that nobody wants any more.
    if !Task.isCancelled { act(on: inbox.take(news)) }
  }

  private func goOn(_ list: InboxMachine.List) { act(on: inbox.take(.paused(list))) }

  /// What is over leaves the list.
  private func watchExpiry() {
    expiry?.cancel()
    guard let next = inbox.nextExpiry else {
      expiry = nil
      return
    }
    let seconds = max(0.1, Double(next.value - wall))
    expiry = Task { [weak self, clock] in
      guard (try? await clock.sleep(seconds)) != nil else { return }
      await self?.expire(next)
    }
  }

  /// By whichever clock says so first: the wall clock may have been set back meanwhile.
  private func expire(_ end: UnixSeconds) {
    act(on: inbox.take(.clock(max(end, UnixSeconds(clamping: wall)))))
  }

  func stopPolls() {
    act(on: inbox.take(.background))
    inbox = InboxMachine()
    expiry?.cancel()
  }
}
