/// How large the window of a terminal is (ioctl_tty(2), TIOCGWINSZ).
internal import CLinux

package struct WindowSize: Equatable {
  package var columns: Int
  package var rows: Int

  /// Nil where there is no terminal, or it does not know.
  package init?(of descriptor: Int32) {
    var columns: UInt16 = 0
    var rows: UInt16 = 0
    // The call writes the two numbers.
    guard unsafe portcullis_window_size(descriptor, &columns, &rows) == 0, columns > 0, rows > 0 else {
      return nil
    }
    self.columns = Int(columns)
    self.rows = Int(rows)
  }
}
