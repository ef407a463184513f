/// `/drain` and `/drain/end`, as HTML and as JSON.
internal import Prompt

extension DrainPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .drain, heading: "Drain", lede: lede, problems: problems, liveFrom: ConsolePath("/api/drain"))
    return layout.html(frame) { html in
      html.element(
        .p, .class(.notice, .of(isDraining ? .doubtful : .good)), .text(.dataStanding, "drain"),
        .fixed(.role, "status")
      ) { $0.element(.strong, .text(.dataLive, "drain"), text: verdict) }
      html.element(.div, .class(.panel)) { $0.facts(facts) }
      if frame.mayChange {
        if isFinal {
          html.element(.p, text: "This cannot be taken back: start the gate again on its host.")
        } else if isDraining {
          html.change(ConsolePath("/undrain"), frame, button: "Take new players again")
        } else {
          html.change(.drain, frame, button: "Begin to drain")
        }
        html.element(
          .p, .class(.hint),
          text:
            "For an upgrade a restart of the service is enough: sessions that outlive it go on by themselves."
        )
        html.section("Ending all sessions") { html in
          html.element(
            .p,
            text:
              "Where nobody should play on, such as before the game is moved. Sessions that would outlive a restart "
              + "end too, and nobody comes in until the gate is started again on its host.")
          html.element(.p) {
            $0.element(
              .a, .class(.button, .outline), .href(ConsolePath.drain.appending("end")),
              text: "End all sessions…")
          }
        }
      }
    }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add("drain", .text(verdict))
    answer.add("drain", isDraining ? .doubtful : .good)
    answer.add(facts)
    return answer
  }

  private var verdict: String {
    if isFinal { return "Closed: nobody comes in until the gate is started again" }
    return isDraining ? "Draining: no new players come in" : "Open: players come in"
  }

  private var lede: String {
    "A gate that drains says so at /readyz and /healthz, so that a balancer sends players elsewhere. New ones are told to "
      + "come again, who plays plays on, and who comes back to a session here is let in."
  }

  private var facts: [Fact] {
    [
      Fact("Players now", .number(attached), live: "attached"),
      Fact("Away, may come back", .number(detached), live: "detached"),
      Fact("Would outlive a restart", .number(kept), live: "kept"),
    ]
  }
}

extension EndAllPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .drain, heading: "End all sessions?",
      lede:
        "\(Wording.count(sessions, "player is", "players are")) disconnected from the game, and cannot come back to "
        + "these sessions. It cannot be taken back: the gate takes nobody in until it is started again on its host.",
      above: ("Drain", .drain), problems: problems)
    return layout.html(frame) { html in
      html.change(
        ConsolePath.drain.appending("end"), frame, button: "End all sessions", isDanger: true,
        back: ("Leave them as they are", .drain))
    }
  }

  func live() -> LiveAnswer { LiveAnswer() }
}
