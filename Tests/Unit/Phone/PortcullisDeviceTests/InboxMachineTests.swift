/// What waits for the person: lists, polls, pauses, and what a session of play says instead.
import PortcullisProtocol
import Testing

@testable import PortcullisDevice

@Suite struct InboxMachineTests {
  private func approval(_ number: Int, expires: Int64 = 1_800_000_060) throws -> Approval {
    let id = "11111111-2222-4333-8444-55555555555\(number)"
    let json = Sample.item(try Sample.summary(), id: id, expires: expires)
    return try #require(Approval(JSONTree(parsing: Array(json.utf8), depthLimit: 4)))
  }

  private typealias Action = InboxMachine.Action

  @Test func onePollForEachListInTheForeground() throws {
    var inbox = InboxMachine()
    #expect(inbox.take(.told(.approvals)).isEmpty)
    #expect(inbox.take(.foreground) == [.fetch(.approvals, after: nil), .fetch(.logins, after: nil)])
    #expect(inbox.take(.foreground).isEmpty)
    let first = try approval(1)
    #expect(inbox.take(.approvals([first], cursor: "c")) == [.showApprovals, .fetch(.approvals, after: "c")])
    // What is new comes beside what was there; the same again shows nothing.
    let second = try approval(2)
    #expect(
      inbox.take(.approvals([second, first], cursor: "d")) == [
        .showApprovals, .fetch(.approvals, after: "d"),
      ])
    #expect(inbox.approvals == [first, second])
    #expect(inbox.take(.approvals([], cursor: "d")) == [.fetch(.approvals, after: "d")])
    #expect(inbox.take(.background) == [.abandon(.approvals), .abandon(.logins)])
    // It comes too late.
    #expect(inbox.take(.approvals([], cursor: "e")).isEmpty && inbox.approvals.count == 2)
    // A whole list takes the place of the old one.
    _ = inbox.take(.foreground)
    #expect(inbox.take(.approvals([second], cursor: "f")).first == .showApprovals)
    #expect(inbox.approvals == [second])
  }

  @Test func aSessionSaysWhatComes() throws {
    var inbox = InboxMachine()
    _ = inbox.take(.foreground)
    #expect(inbox.take(.followed(true)) == [.abandon(.approvals), .abandon(.logins)])
    #expect(inbox.take(.followed(true)).isEmpty)
    #expect(inbox.take(.told(.approvals)) == [.fetch(.approvals, after: nil)])
    // Told again while it is fetched: fetched once more, as the answer may be older.
    #expect(inbox.take(.told(.approvals)).isEmpty)
    #expect(inbox.take(.approvals([], cursor: "c")) == [.fetch(.approvals, after: nil)])
    #expect(inbox.take(.approvals([], cursor: "d")).isEmpty)
    #expect(inbox.take(.followed(false)) == [.fetch(.approvals, after: nil), .fetch(.logins, after: nil)])
  }

  @Test func pausesGrowAndAreNamedByTheGate() {
    var inbox = InboxMachine()
    _ = inbox.take(.foreground)
    for seconds in [1, 2, 4, 8, 16, 32, 32] as [Double] {
      #expect(inbox.take(.failed(.logins, retryAfter: nil)) == [.pause(.logins, seconds)])
      #expect(inbox.take(.failed(.logins, retryAfter: nil)).isEmpty)
      #expect(inbox.take(.told(.logins)).isEmpty)
      #expect(inbox.take(.paused(.logins)) == [.fetch(.logins, after: nil)])
      #expect(inbox.take(.paused(.logins)).isEmpty)
    }
    #expect(inbox.take(.failed(.logins, retryAfter: 7)) == [.pause(.logins, 7)])
    _ = inbox.take(.background)
    #expect(inbox.take(.paused(.logins)).isEmpty)
  }

  @Test func whatIsOverOrAnsweredLeaves() throws {
    var inbox = InboxMachine()
    _ = inbox.take(.foreground)
    let (early, late) = (try approval(1, expires: 100), try approval(2, expires: 200))
    _ = inbox.take(.approvals([early, late], cursor: "c"))
    #expect(inbox.nextExpiry?.value == 100)
    #expect(inbox.take(.clock(UnixSeconds(clamping: 99))).isEmpty)
    #expect(inbox.take(.clock(UnixSeconds(clamping: 100))) == [.showApprovals])
    #expect(inbox.take(.answered(early.id)).isEmpty)
    #expect(inbox.take(.answered(late.id)) == [.showApprovals])
    #expect(inbox.approvals.isEmpty && inbox.nextExpiry == nil)
  }

  /// Whatever comes in whatever order: never two requests for one list at once, none in the background.
  @Test func anyOrder() throws {
    var generator = SystemRandomNumberGenerator()
    let item = try approval(1)
    for _ in 0..<300 {
      var inbox = InboxMachine()
      var underWay: [InboxMachine.List: Int] = [.approvals: 0, .logins: 0]
      var isForeground = false
      for _ in 0..<60 {
        let news: InboxMachine.News
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: (news, isForeground) = (.foreground, true)
        case 1: (news, isForeground) = (.background, false)
        case 2: news = .followed(.random(using: &generator))
        case 3: news = .told(.approvals)
        case 4 where underWay[.approvals] == 1:
          underWay[.approvals] = 0
          news = .approvals([item], cursor: "c")
        case 5 where underWay[.logins] == 1:
          underWay[.logins] = 0
          news = .logins([], cursor: "c")
        case 6 where underWay[.approvals] == 1:
          underWay[.approvals] = 0
          news = .failed(.approvals, retryAfter: nil)
        case 7: news = .paused(.approvals)
        case 8: news = .answered(item.id)
        default: news = .told(.logins)
        }
        for action in inbox.take(news) {
          switch action {
          case .fetch(let list, _): underWay[list, default: 0] += 1
          case .abandon(let list): underWay[list, default: 0] -= 1
          case .pause, .showApprovals, .showLogins: break
          }
        }
        #expect(underWay.values.allSatisfy { (0...1).contains($0) })
        if !isForeground { #expect(underWay.values.allSatisfy { $0 == 0 }) }
      }
    }
  }
}
