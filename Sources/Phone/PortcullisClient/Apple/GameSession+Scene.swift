/// A session that follows the app to the background and back, on Apple's platforms.
#if canImport(SwiftUI) && (os(iOS) || os(tvOS) || os(visionOS))
  internal import Dispatch
  internal import Foundation
  public import SwiftUI

  extension GameSession {
    /// To be called with each change of the scene's phase: asks the system for the time that leaving takes, and comes back in
    /// the foreground. It works in app extensions as well.
    public nonisolated func follow(_ phase: ScenePhase) {
      switch phase {
      case .background: part(enterBackground())
      case .active: enterForeground()
      default: break
      }
    }

    private nonisolated func part(_ parting: Task<Void, Never>) {
      let hasParted = DispatchSemaphore(value: 0)
      Task {
        await parting.value
        hasParted.signal()
      }
      // The system calls it once for its time to begin, and from another thread when there is none left.
      ProcessInfo.processInfo.performExpiringActivity(withReason: "The game is told that the app sleeps") {
        [self] isExpired in
        if isExpired { cut() } else { hasParted.wait() }
      }
    }
  }
#endif
