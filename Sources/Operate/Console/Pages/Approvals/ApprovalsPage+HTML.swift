/// `/approvals` and what is below it, as HTML and as JSON.
internal import Prompt
internal import System

extension ApprovalsPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .approvals, heading: "Approvals", liveFrom: end.isFirst ? ConsolePath("/api/approvals") : nil)
    return layout.html(frame) { html in
      if end.isFirst { html.section("Pending") { $0.table(pendingTable) } }
      html.section("Decided") { html in
        html.table(decidedTable)
        html.pages(end, .approvals)
      }
    }
  }

  func json() -> [UInt8] {
    var answer = LiveAnswer()
    answer.add(pendingTable)
    answer.add(decidedTable)
    return answer.json()
  }

  private var pendingTable: Table {
    Table(
      name: "pending", caption: "\(Wording.count(pending.count, "request waits", "requests wait"))",
      columns: [
        .init("operation", "Operation"), .init("service", "Service"), .init("requester", "Requester"),
        .init("subject", "Subject"), .init("votes", "Approved by"), .init("ends", "Time left"),
      ],
      rows: pending.map { row in
        [
          row.link, .text(row.service), .text(row.requester), .optional(row.subject), row.votes,
          .ends(row.expiresAt),
        ]
      }, empty: "Nothing waits for an approval.")
  }

  private var decidedTable: Table {
    Table(
      name: "decided", caption: "The latest first", hidesCaption: true,
      columns: [
        .init("operation", "Operation"), .init("state", "Outcome"), .init("service", "Service"),
        .init("requester", "Requester"), .init("subject", "Subject"), .init("votes", "Approved by"),
        .init("asked", "Asked"), .init("decided", "Decided"),
      ],
      rows: decided.map { row in
        [
          row.link, row.standing, .text(row.service), .text(row.requester), .optional(row.subject), row.votes,
          .time(row.createdAt), .optional(row.decidedAt),
        ]
      }, empty: "Nothing has been decided yet.")
  }
}

extension ApprovalRow {
  fileprivate var link: Cell { .link(.text(operation.isEmpty ? id : operation), .approval(id)) }

  var votes: Cell {
    .text(quorum == 0 ? "no device is asked" : "\(Wording.count(approvals)) of \(Wording.count(quorum))")
  }

  var standing: Cell {
    switch state {
    case .pending: .standing(.doubtful, state.rawValue)
    case .approved: .standing(.good, state.rawValue)
    case .denied: .standing(.neutral, state.rawValue)
    case .reported: .standing(.bad, state.rawValue)
    case .expired, .cancelled: .standing(.neutral, state.rawValue)
    }
  }
}
