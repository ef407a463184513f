/// The names of files in their folders: taken away, changed, given a second time, and made durable.
///
/// The unsafe calls lend the kernel a path for their duration; none keeps it.
internal import Glibc

package enum FileNames {
  /// `ENOENT` where there is none.
  package static func remove(_ path: String) throws(SystemError) {
    if unsafe unlink(path) != 0 { throw SystemError("unlink \(path)") }
  }

  /// What had the new name has it no more.
  package static func move(_ old: String, to new: String) throws(SystemError) {
    if unsafe rename(old, new) != 0 { throw SystemError("rename \(new)") }
  }

  /// A second name for the file; unlike `move`, `EEXIST` where the name is taken.
  package static func link(_ path: String, as name: String) throws(SystemError) {
    if unsafe Glibc.link(path, name) != 0 { throw SystemError("create \(name)") }
  }

  /// Until then a power cut may bring the names back that were there before.
  package static func synchronize(folder: String) throws(SystemError) {
    let directory = try OwnedDescriptor.open(folder, O_RDONLY | O_DIRECTORY, 0)
    if fsync(directory.number) != 0 { throw SystemError("fsync \(folder)") }
  }
}
