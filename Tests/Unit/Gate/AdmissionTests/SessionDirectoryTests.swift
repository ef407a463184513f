import Kit
import SessionWire
import Testing

@testable import Admission

@Suite struct SessionDirectoryTests {
  private let directory = SessionDirectory()
  private let id = SessionIDHash(of: SessionID(SeededEntropy(1)))

  private func place(_ loop: UInt16, _ token: UInt64) -> SessionReference {
    SessionReference(loop: loop, token: token)
  }

  @Test func aSessionMoves() {
    directory.place(id, at: place(0, 1))
    directory.move(id, from: place(0, 1), to: place(1, 2))
    #expect(directory.find(id) == place(1, 2))
    directory.remove(id)
    #expect(directory.find(id) == nil)
    #expect(directory.count == 0)
  }

  /// The loop that was handed it was quicker than the one that says so: it has moved on, or is forgotten.
  @Test func whoeverHandedItOverDoesNotKnowBetter() {
    directory.place(id, at: place(0, 1))
    directory.place(id, at: place(1, 3))
    directory.move(id, from: place(0, 1), to: place(1, 2))
    #expect(directory.find(id) == place(1, 3))
    directory.remove(id)
    directory.move(id, from: place(0, 1), to: place(1, 2))
    #expect(directory.count == 0)
  }
}
