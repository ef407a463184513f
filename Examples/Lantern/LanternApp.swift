/// An app for a game behind a gate: one window, one session.
import SwiftUI

@main
struct LanternApp: App {
  var body: some Scene {
    WindowGroup { GameScreen() }
  }
}
