/// The one screen: what the game says, how its character is, and a line to type.
import PortcullisClient
import PortcullisProtocol
import SwiftUI

struct GameScreen: View {
  @StateObject private var game = Game()
  @Environment(\.scenePhase) private var scenePhase
  /// How often the player wanted to play.
  @State private var stay = 0

  var body: some View {
    VStack(spacing: 0) {
      Banner(state: game.state) { stay += 1 }
      TranscriptView(transcript: game.transcript)
      if !game.vitals.isEmpty { VitalsBar(vitals: game.vitals) }
      InputLine(prompt: game.transcript.open, isHidden: game.hidesInput) { game.send($0) }
        .opacity(game.answers ? 1 : 0.4)
    }
    .task(id: stay) { await game.play() }
    .onChange(of: scenePhase) { phase in
      switch phase {
      case .background: game.enterBackground()
      case .active: game.enterForeground()
      default: break
      }
    }
  }
}

/// Nothing while the game is played; else why not.
struct Banner: View {
  let state: GameState
  let playAgain: () -> Void

  var body: some View {
    switch state {
    case .attached: EmptyView()
    case .connecting:
      Waiting(text: "Connecting… Your character stays where it is.")
    case .waiting(_, let why):
      Waiting(text: words(for: why))
    case .ended(let end):
      HStack {
        Text(words(for: end))
        Spacer()
        Button("Play again") { playAgain() }
      }
      .font(.footnote)
      .padding(8)
      .background(Color.gray.opacity(0.3))
    }
  }

  private func words(for failure: GameFailure) -> String {
    switch failure.kind {
    case .offline: return "No network. Your character stays where it is."
    case .interference, .pinMismatch: return "This network has a login page, perhaps. Open the browser."
    case .untrusted: return "This is not the game's server, or its certificate is old."
    case .attestation, .keyBrake: return "Apple cannot confirm this app just now."
    case .storage: return "Unlock the phone once."
    default: return "Connecting… Your character stays where it is."
    }
  }

  private func words(for end: GameEnd) -> String {
    switch end {
    case .byGate(.known(.gameClosed)), .byApp: return "You have left the game."
    case .byGate(.known(.revoked)): return "This device is no longer welcome."
    case .takenOver: return "You play somewhere else now."
    case .left: return "Your character waits for you."
    case .failed(let failure):
      return "The gate does not let you in (\(failure.code?.rawValue ?? "\(failure.kind)"))."
    default: return "The game is over for now."
    }
  }
}

struct Waiting: View {
  let text: String

  var body: some View {
    HStack {
      ProgressView()
      Text(text)
    }
    .font(.footnote)
    .padding(8)
    .frame(maxWidth: .infinity)
    .background(Color.yellow.opacity(0.3))
  }
}

struct TranscriptView: View {
  let transcript: Transcript

  var body: some View {
    ScrollViewReader { scroller in
      ScrollView {
        LazyVStack(alignment: .leading, spacing: 2) {
          ForEach(transcript.lines) { line in Text(line.text).id(line.id) }
        }
        .font(.system(.footnote, design: .monospaced))
        .textSelection(.enabled)
        .padding(8)
      }
      .onChange(of: transcript.lines.last?.id) { last in scroller.scrollTo(last, anchor: .bottom) }
    }
  }
}

struct VitalsBar: View {
  let vitals: [Vital]

  var body: some View {
    HStack(spacing: 12) {
      ForEach(vitals) { vital in
        VStack(alignment: .leading, spacing: 2) {
          Text("\(vital.name) \(Int(vital.value))/\(Int(vital.most))").font(.caption2)
          ProgressView(value: vital.value, total: vital.most)
        }
        .accessibilityElement(children: .combine)
      }
    }
    .padding(8)
  }
}

struct InputLine: View {
  let prompt: AttributedString
  let isHidden: Bool
  /// Whether the line was taken.
  let send: (String) -> Bool
  @State private var line = ""
  @FocusState private var isTyping: Bool

  var body: some View {
    HStack {
      Text(prompt).lineLimit(1)
      Group {
        if isHidden {
          SecureField("Password", text: $line)
        } else {
          TextField("", text: $line)
            .textInputAutocapitalization(.never)
            .autocorrectionDisabled()
        }
      }
      .focused($isTyping)
      .submitLabel(.send)
      .onSubmit {
        if send(line) { line = "" }
        isTyping = true
      }
      .accessibilityLabel(isHidden ? "Password" : "What you do")
    }
    .font(.system(.body, design: .monospaced))
    .padding(8)
    .background(Color.gray.opacity(0.15))
  }
}
