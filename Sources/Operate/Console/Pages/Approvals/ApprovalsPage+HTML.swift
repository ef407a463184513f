/// `/approvals` and what is below it, as HTML and as JSON.
internal import Prompt
internal import System

extension ApprovalsPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .approvals, heading: "Approvals", liveFrom: end.isFirst ? ConsolePath("/api/approvals") : nil)
    return layout.html(frame) { html in
      html.blank([pendingTable, decidedTable], isWhole: end.isFirst) { html in
        html.element(
          .p,
          text:
            "Nothing was asked for yet. A service asks when its policy says so, and an operator on the gate’s host:"
        )
        html.element(
          .code, .class(.command),
          text: "portcullis approvals request --operation shutdown --text \"The game restarts.\"")
      }
      if end.isFirst {
        html.shown(with: pendingTable) { html in
          html.element(.h2, text: "Pending")
          html.table(pendingTable)
        }
      }
      html.shown(with: decidedTable) { html in
        html.element(.h2, text: "Decided")
        html.table(decidedTable)
        html.pages(end, .approvals)
      }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(pendingTable)
    answer.add(decidedTable)
    return answer
  }

  private var pendingTable: Table {
    Table(
      name: "pending", caption: "\(Wording.count(pending.count, "request waits", "requests wait"))",
      columns: [
        .init("operation", "Request"), .init("needs", "State", isMark: true),
        .init("requester", "Requester"), .init("ends", "Time left"),
        .init("service", "Service", isMinor: true),
        .init("subject", "Subject", isMinor: true),
      ],
      rows: pending.map { row in
        [
          .lines([row.link, .optional(sentence: row.text)]), row.needs, .text(row.requester),
          .ends(row.expiresAt), .text(row.service), .optional(row.subject),
        ]
      }, empty: "Nothing waits for an approval.")
  }

  private var decidedTable: Table {
    Table(
      name: "decided", caption: "The latest first", hidesCaption: true,
      columns: [
        .init("operation", "Request"), .init("state", "Outcome", isMark: true),
        .init("requester", "Requester"), .init("decided", "Decided"),
        .init("service", "Service", isMinor: true), .init("subject", "Subject", isMinor: true),
        .init("votes", "Approved by", isMinor: true), .init("asked", "Asked", isMinor: true),
      ],
      rows: decided.map { row in
        [
          .lines([row.link, .optional(sentence: row.text)]), row.standing, .text(row.requester),
          .optional(row.decidedAt), .text(row.service), .optional(row.subject), row.votes,
          .time(row.createdAt),
        ]
      }, empty: "Nothing has been decided yet.")
  }
}

extension ApprovalRow {
  fileprivate var link: Cell { .link(.text(operation.isEmpty ? id : operation), .approval(id)) }

  var votes: Cell {
    .text(quorum == 0 ? "no device is asked" : "\(Wording.count(approvals)) of \(Wording.count(quorum))")
  }

  /// What is missing until it is approved.
  fileprivate var needs: Cell {
    let phones = quorum > approvals ? Wording.count(quorum - approvals, "phone", "phones") : nil
    if !needsOperator { return .standing(.neutral, phones.map { "waits for \($0)" } ?? "is being decided") }
    return .standing(.doubtful, "needs an operator\(phones.map { " and \($0)" } ?? "")")
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
