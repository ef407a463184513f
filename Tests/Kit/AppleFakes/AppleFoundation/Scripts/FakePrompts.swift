/// What a person does when the phone asks for a face or a passcode, and whose faces it knows.
internal import Synchronization

package final class FakePrompts: DevicePart, Prompting {
  package enum Answer: Sendable {
    case yes
    /// By one of LAError's codes: -2 the person has cancelled, -8 too many wrong faces.
    case no(Int)
    /// The prompt stands, until `answer` is called.
    case later
  }

  private struct State {
    var answers: [Answer] = []
    var waiting: [(owner: ObjectIdentifier, done: @Sendable (Int?) -> Void)] = []
    var shown = 0
    var faces = 1
    var codeOfNone: Int?
  }

  private let state = Mutex(State())

  package init() {}

  // MARK: For a test

  /// To the next prompts; to those after them: yes.
  package func script(_ answers: Answer...) {
    state.withLock { state in state.answers += answers }
  }

  /// To all prompts that stand. Nil: yes.
  package func answer(_ code: Int? = nil) { end({ _ in true }, with: code) }

  /// How many prompts were shown.
  package var shown: Int { state.withLock(\.shown) }
  /// How many stand.
  package var standing: Int { state.withLock { $0.waiting.count } }

  /// Why nobody can be asked: -5 no passcode, -7 no face, -8 locked out. Nil: they can.
  package var codeOfNone: Int? {
    get { state.withLock(\.codeOfNone) }
    set { state.withLock { state in state.codeOfNone = newValue } }
  }

  /// Keys that are for the faces of before are of no use any more.
  package func addFace() { state.withLock { state in state.faces += 1 } }

  // MARK: For the fakes

  package var faces: Int { state.withLock(\.faces) }

  package func ask(_ context: any AuthenticationContext, _ done: @escaping @Sendable (Int?) -> Void) {
    if context.isAuthenticated { return done(nil) }
    if let code = codeOfNone { return done(code) }
    guard context.allowsPrompt else { return done(-1004) }
    let ended: @Sendable (Int?) -> Void = { code in
      if code == nil { context.noteAuthenticated() }
      done(code)
    }
    let answer = state.withLock { state in
      state.shown += 1
      let answer = state.answers.isEmpty ? .yes : state.answers.removeFirst()
      if case .later = answer { state.waiting.append((ObjectIdentifier(context), ended)) }
      return answer
    }
    switch answer {
    case .yes: ended(nil)
    case .no(let code): ended(code)
    case .later: break
    }
  }

  package func invalidate(_ context: any AuthenticationContext) {
    end({ $0 == ObjectIdentifier(context) }, with: -9)
  }

  private func end(_ isMeant: (ObjectIdentifier) -> Bool, with code: Int?) {
    let ended = state.withLock { state in
      let ended = state.waiting.filter { isMeant($0.owner) }
      state.waiting.removeAll { isMeant($0.owner) }
      return ended
    }
    for (_, done) in ended { done(code) }
  }
}
