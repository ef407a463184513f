/// Memory that outlives the process: a file without a name (memfd_create(2)) of a fixed size, mapped, which every process that holds
/// its descriptor goes on with.
///
/// It is read and written in words of eight bytes. A store of one is whole whenever the process is killed, and none that
/// is made later is seen without it.
internal import CLinux
internal import Glibc

/// Any thread may use it; who writes which word is for its users to settle.
@safe package final class SharedMemory: @unchecked Sendable {
  /// What a next process gets.
  package let descriptor: OwnedDescriptor
  package let wordCount: Int
  /// `wordCount` words, mapped from init to deinit. The file cannot shrink under them, as its seals say.
  private let words: UnsafeMutablePointer<UInt64>

  private init(
    owning descriptor: consuming OwnedDescriptor, _ words: UnsafeMutablePointer<UInt64>, count: Int
  ) {
    self.descriptor = descriptor
    unsafe self.words = words
    wordCount = count
  }

  deinit {
    unsafe portcullis_memory_unmap(words, wordCount * Self.wordBytes)
  }

  /// All zero. A sandbox may forbid it, so it is made before.
  /// - Parameter name: what `/proc` shows.
  package static func create(name: String, wordCount: Int) throws(SystemError) -> SharedMemory {
    let file = try file(name: name)
    guard ftruncate(file.number, wordCount * wordBytes) == 0 else { throw SystemError("ftruncate") }
    guard portcullis_memory_seal(file.number) == 0 else { throw SystemError("fcntl F_ADD_SEALS") }
    return try map(file, wordCount)
  }

  /// The file alone, empty, which grows as it is written.
  package static func file(name: String) throws(SystemError) -> OwnedDescriptor {
    // The kernel copies the name during the call.
    let number = unsafe name.withCString { name in unsafe portcullis_memory_create(name) }
    guard number >= 0 else { throw SystemError("memfd_create") }
    return OwnedDescriptor(owning: number)
  }

  /// What another process has made, if its size is fixed: `EINVAL` else, and `EFBIG` beyond `limit` words.
  package static func adopt(_ descriptor: consuming OwnedDescriptor, limit: Int) throws(SystemError)
    -> SharedMemory
  {
    let sealed = portcullis_memory_is_sealed(descriptor.number)
    guard sealed >= 0 else { throw SystemError("fcntl F_GET_SEALS") }
    guard sealed == 1 else { throw SystemError("memory whose size may change", EINVAL) }
    let bytes = try descriptor.length()
    guard bytes > 0, bytes % wordBytes == 0 else { throw SystemError("memory of \(bytes) bytes", EINVAL) }
    guard bytes / wordBytes <= limit else { throw SystemError("memory of \(bytes) bytes", EFBIG) }
    return try map(descriptor, bytes / wordBytes)
  }

  private static func map(_ descriptor: consuming OwnedDescriptor, _ count: Int) throws(SystemError)
    -> SharedMemory
  {
    // Of the file's own size, and given back by deinit alone.
    guard let words = unsafe portcullis_memory_map(descriptor.number, count * wordBytes) else {
      throw SystemError("mmap")
    }
    return unsafe SharedMemory(owning: descriptor, words, count: count)
  }

  // MARK: Words

  package func load(at index: Int) -> UInt64 {
    check(index, 1)
    // Checked to lie within the mapping, here and below.
    return unsafe portcullis_memory_load(words + index)
  }

  /// Behind whatever was stored before.
  package func store(_ word: UInt64, at index: Int) {
    check(index, 1)
    unsafe portcullis_memory_store(words + index, word)
  }

  /// All of them behind whatever was stored before, in no order among themselves.
  package func store(_ values: Span<UInt64>, at index: Int) {
    check(index, values.count)
    unsafe values.withUnsafeBufferPointer { values in
      if let first = values.baseAddress {
        unsafe portcullis_memory_store_all(words + index, first, values.count)
      }
    }
  }

  @inline(__always)
  private func check(_ index: Int, _ count: Int) {
    guard index >= 0, index <= wordCount - count else {
      fatalError("SharedMemory: word \(index) of \(wordCount)")
    }
  }

  private static let wordBytes = 8
}
