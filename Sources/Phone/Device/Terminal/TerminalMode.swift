/// How a terminal treats what is typed (termios(3)): changed for as long as a game is played, then put back.
internal import Glibc
internal import System

final class TerminalMode {
  private let descriptor: Int32
  private let original: termios
  private var isChanged = false

  /// Nil where there is no terminal.
  init?(of descriptor: Int32) {
    var settings = termios()
    // The call fills the structure.
    guard isatty(descriptor) == 1, unsafe tcgetattr(descriptor, &settings) == 0 else { return nil }
    self.descriptor = descriptor
    original = settings
  }

  deinit { restore() }

  /// Each key comes as it is pressed, and is not shown; signals are still made of Control-C and its like.
  func takeKeys() {
    var settings = original
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ECHONL | IEXTEN)
    settings.c_iflag |= tcflag_t(ICRNL)
    // A read returns as soon as there is one byte.
    settings.c_cc.6 = 1
    settings.c_cc.5 = 0
    set(settings)
  }

  /// Lines come whole, as the terminal edits them.
  /// - Parameter isHidden: only the end of a line is shown.
  func takeLines(isHidden: Bool) {
    var settings = original
    settings.c_lflag |= tcflag_t(ICANON)
    if isHidden {
      settings.c_lflag &= ~tcflag_t(ECHO)
      settings.c_lflag |= tcflag_t(ECHONL)
    }
    set(settings)
  }

  /// As it was found.
  func restore() {
    if isChanged { set(original) }
    isChanged = false
  }

  private func set(_ settings: termios) {
    isChanged = true
    var settings = settings
    // A terminal that is gone has no settings to be put back.
    _ = unsafe tcsetattr(descriptor, TCSADRAIN, &settings)
  }
}
