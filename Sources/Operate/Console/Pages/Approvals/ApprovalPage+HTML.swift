/// `/approvals/<id>`: what is asked for, who has said what, and the operator's own word.
internal import Prompt
internal import System

extension ApprovalPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .approvals, heading: Wording.cut(approval.operation, to: 120), above: ("Approvals", .approvals),
      problems: problems, liveFrom: ConsolePath("/api/approvals").appending(approval.id))
    return layout.html(frame) { html in
      html.element(.div, .class(.panel)) { $0.facts(standing) }
      html.section("What is asked for") { html in
        html.element(.div, .class(.panel)) { html in
          html.element(.p, .class(.words), text: Wording.cut(text, to: 2000))
          html.facts(target.map { Fact(Wording.cut($0.name, to: 80), .sentence($0.value)) } + asker)
        }
      }
      html.section("Your word") { own(frame, &$0) }
      html.section("Votes") { $0.table(votesTable) }
      html.section("Details") { html in
        html.element(.div, .class(.panel)) { $0.facts(details) }
      }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(standing)
    answer.add(votesTable)
    return answer
  }

  // MARK: The operator's word

  private func own(_ frame: PageFrame, _ html: inout HTML) {
    let path = ConsolePath.approval(approval.id)
    switch ownWord {
    case .isAwaited where frame.mayChange:
      html.element(
        .p,
        text:
          "Confirm only what you know to be wanted: ask the person by another way than the one it came by.")
      html.element(.div, .class(.actions, .apart)) { html in
        html.change(path.appending("confirm"), frame, button: "Confirm")
        html.change(path.appending("refuse"), frame, button: "Refuse", style: .outline)
      }
    case .isAwaited: html.element(.p, text: "It waits for an operator, and you may only look.")
    case .isNotAskedFor:
      html.element(.p, text: "The policy does not ask for an operator here: phones decide.")
    case .isOwnRequest:
      html.element(.p, text: "You asked for it yourself: another operator has to confirm it.")
    case .isNoApprover:
      html.element(.p, text: "It waits for an operator, and you are not named in APPROVAL_OPERATORS.")
    case .isGiven: html.element(.p, text: "An operator has spoken already.")
    case .isOver: html.element(.p, text: "It is decided: nothing is left to say.")
    }
  }

  // MARK: What is known

  private var standing: [Fact] {
    [
      Fact("State", approval.standing, live: "state"),
      Fact("Because", reason.map { .text(Wording.plain($0)) } ?? .none),
      Fact("Time left", approval.state == .pending ? .ends(approval.expiresAt) : .none),
      Fact("Approved by", approval.votes, live: "votes"),
      Fact("Operator", .optional(operatorName)),
    ]
  }

  private var asker: [Fact] {
    [
      Fact(
        "Requester",
        .lines([.optional(requesterName), .code(approval.requester), .optional(requesterAddress)])),
      Fact("Service", .text(approval.service)),
      Fact("Subject", .optional(approval.subject)),
    ]
  }

  private var details: [Fact] {
    [
      Fact("It takes", .sentence(terms)),
      Fact("Asked", .time(approval.createdAt)),
      Fact("Decided", .optional(approval.decidedAt)),
      Fact("Good until", lease.map { .time($0.expiresAt) } ?? .none),
      Fact("Uses left", lease.map { .number($0.usesLeft) } ?? .none),
      Fact("Request", .code(approval.id)),
    ]
  }

  private var terms: String {
    var parts: [String] = []
    if approval.quorum > 0 {
      parts += [
        Wording.count(approval.quorum, "device", "devices"), "keys \(Wording.plain(level)) or better",
      ]
      if verification != "none" { parts.append("the person verified by \(Wording.plain(verification))") }
    }
    parts += factors.map(Wording.plain)
    return parts.joined(separator: " · ")
  }

  private var votesTable: Table {
    Table(
      name: "votes", caption: "What devices have said", hidesCaption: true,
      columns: [
        .init("device", "Device"), .init("vote", "Vote"), .init("at", "When"), .init("level", "Its keys"),
        .init("verification", "Person verified by"),
      ],
      rows: votes.map { vote in
        [
          .link(vote.deviceName.map { .text($0) } ?? .code(vote.deviceID), .device(vote.deviceID)),
          vote.standing, .time(vote.at), .text(Wording.plain(vote.level)), .text(vote.verification),
        ]
      }, empty: "No device has said anything yet.")
  }
}

extension VoteRow {
  fileprivate var standing: Cell {
    switch decision {
    case .approve: .standing(.good, "approved")
    case .deny: .standing(.neutral, "denied")
    case .report: .standing(.bad, "reported")
    }
  }
}
