/// What a session needs while it has no connection: made when it loses one for the first time, as most never do.
internal import Scheduling
internal import System

final class Detachment {
  /// Among its loop's sessions without a connection, and counted as one of them. Who comes back is not, on the way from
  /// one connection to the next.
  var isDetached = false
  /// Its place among the loop's others.
  var neighbours = DetachedList.Neighbours()
  /// When something is due.
  var alarm = Alarm()
  /// Among its loop's sessions that go on.
  var isContinuing = false
  /// What waits for its game, as far as its loop has counted it.
  var countedQueue = 0
  /// It counts for its player's address.
  var isCountedForAddress = false
  /// How long it had no connection before the present one.
  var lasted = Duration.zero
}
