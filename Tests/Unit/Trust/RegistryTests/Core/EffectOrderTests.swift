/// Whoever has an answer finds what follows from it in force.
import DeviceWire
import Synchronization
import Testing

@testable import Registry

@Suite struct EffectOrderTests {
  private struct Announcing: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      transaction.announce(.services([:]))
      return .reply(.answered([]))
    }
  }

  /// A service that was added comes with its token at once, over another connection.
  @Test func effectsAreHeardBeforeTheAnswer() throws {
    let part = try WorkerPart()
    try part.start()
    let before = Mutex<[RegistryEffect]?>(nil)
    let listener = part.listener
    let count = listener.effects.count
    part.worker?.serve([
      Registry.Request(
        handle: RequestHandle(number: 1), call: Announcing(), origin: .gate, wait: nil,
        completion: { _ in before.withLock { $0 = listener.effects } })
    ])
    #expect(before.withLock { $0 }.map { Array($0.dropFirst(count)) } == [.services([:])])
  }
}
