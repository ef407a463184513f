/// What waits for the person: lists by cursor, one long poll for each of them, and what a session says instead.
package import PortcullisProtocol

package struct InboxMachine {
  package enum List: Equatable, Hashable, Sendable, CaseIterable {
    case approvals, logins
  }

  package enum News: Sendable {
    case foreground, background
    /// A session of play is attached, and says what comes; or it is no more.
    case followed(Bool)
    /// A session has said that something is open.
    case told(List)
    case approvals([Approval], cursor: String)
    case logins([Login], cursor: String)
    /// Nothing came of a request for the list.
    case failed(List, retryAfter: Double?)
    /// A pause is over.
    case paused(List)
    /// A vote was taken, or a code was given: the item waits no more.
    case answered(ApprovalID)
    /// The wall clock; and whether time has passed by the other clock as well is the caller's to say by calling often enough.
    case clock(UnixSeconds)
  }

  package enum Action: Equatable, Sendable {
    /// - `after`: the cursor behind which the gate waits; nil: all that is open, at once.
    case fetch(List, after: String?)
    /// The request for this list is not wanted any more.
    case abandon(List)
    case pause(List, Double)
    case showApprovals
    case showLogins
  }

  private struct Poll {
    var cursor: String?
    var isUnderWay = false
    var isPausing = false
    var failures = 0
    /// Something was told while a request was under way that may not have seen it.
    var isStale = false
  }

  package private(set) var approvals: [Approval] = []
  package private(set) var logins: [Login] = []
  private var polls: [List: Poll] = [.approvals: Poll(), .logins: Poll()]
  private var isForeground = false
  private var isFollowed = false

  package init() {}

  /// When the next item is over; nil: none is there.
  package var nextExpiry: UnixSeconds? {
    (approvals.map(\.expiresAt) + logins.map(\.expiresAt)).min()
  }

  package mutating func take(_ news: News) -> [Action] {
    switch news {
    case .foreground:
      if isForeground { return [] }
      isForeground = true
      return List.allCases.flatMap { fetchAll($0) }
    case .background:
      isForeground = false
      return List.allCases.flatMap { abandon($0) }
    case .followed(let isFollowed):
      if self.isFollowed == isFollowed { return [] }
      self.isFollowed = isFollowed
      guard isForeground else { return [] }
      return List.allCases.flatMap { isFollowed ? abandon($0) : fetchAll($0) }
    case .told(let list):
      guard isForeground else { return [] }
      if polls[list]?.isUnderWay == true {
        polls[list]?.isStale = true
        return []
      }
      return fetchAll(list)
    case .approvals(let items, let cursor):
      guard polls[.approvals]?.isUnderWay == true else { return [] }
      let isWhole = polls[.approvals]?.cursor == nil
      let before = approvals
      approvals = Self.joined(isWhole ? [] : approvals, items)
      return (approvals == before ? [] : [.showApprovals]) + goOn(.approvals, cursor)
    case .logins(let items, let cursor):
      guard polls[.logins]?.isUnderWay == true else { return [] }
      let isWhole = polls[.logins]?.cursor == nil
      let before = logins
      logins = Self.joined(isWhole ? [] : logins, items)
      return (logins == before ? [] : [.showLogins]) + goOn(.logins, cursor)
    case .failed(let list, let retryAfter):
      guard polls[list]?.isUnderWay == true else { return [] }
      polls[list]?.isUnderWay = false
      guard isForeground else { return [] }
      let failures = polls[list]?.failures ?? 0
      polls[list]?.failures = min(failures + 1, 6)
      polls[list]?.isPausing = true
      return [.pause(list, retryAfter ?? Double(1 << min(failures, 5)))]
    case .paused(let list):
      guard polls[list]?.isPausing == true else { return [] }
      polls[list]?.isPausing = false
      return isForeground ? fetchAll(list) : []
    case .answered(let id):
      guard approvals.contains(where: { $0.id == id }) else { return [] }
      approvals.removeAll { $0.id == id }
      return [.showApprovals]
    case .clock(let now): return expire(now)
    }
  }

  private static func joined<Item: Identifiable>(_ before: [Item], _ items: [Item]) -> [Item] {
    let known = Set(before.map(\.id))
    return Array((before + items.filter { !known.contains($0.id) }).suffix(64))
  }

  private mutating func fetchAll(_ list: List) -> [Action] {
    guard polls[list]?.isUnderWay == false, polls[list]?.isPausing == false else { return [] }
    polls[list]?.cursor = nil
    polls[list]?.isUnderWay = true
    polls[list]?.isStale = false
    return [.fetch(list, after: nil)]
  }

  private mutating func abandon(_ list: List) -> [Action] {
    guard polls[list]?.isUnderWay == true else { return [] }
    polls[list]?.isUnderWay = false
    return [.abandon(list)]
  }

  /// The next poll, unless a session says what comes.
  private mutating func goOn(_ list: List, _ cursor: String) -> [Action] {
    polls[list]?.isUnderWay = false
    polls[list]?.failures = 0
    guard isForeground else { return [] }
    if polls[list]?.isStale == true { return fetchAll(list) }
    guard !isFollowed else { return [] }
    polls[list]?.cursor = cursor
    polls[list]?.isUnderWay = true
    return [.fetch(list, after: cursor)]
  }

  private mutating func expire(_ now: UnixSeconds) -> [Action] {
    let (openApprovals, openLogins) = (approvals.count, logins.count)
    approvals.removeAll { $0.expiresAt <= now }
    logins.removeAll { $0.expiresAt <= now }
    return (approvals.count < openApprovals ? [.showApprovals] : [])
      + (logins.count < openLogins ? [.showLogins] : [])
  }
}
