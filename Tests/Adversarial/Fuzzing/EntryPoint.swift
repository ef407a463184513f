/// What libFuzzer calls with each input; `PORTCULLIS_HARNESS` names the harness that gets it.
///
/// One program has them all, because the compiler shares code between the files of a module: they could not
/// be linked one by one.
internal import Glibc

@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  // libFuzzer's buffer has `count` bytes and outlives the call. The array is a copy of just them, so that
  // AddressSanitizer sees the first byte that is read behind it.
  let copy = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
  do throws(BrokenProperty) {
    _ = try selected.check(copy)
  } catch {
    fatalError("broken property: \(error)")
  }
  return 0
}

private let selected: Harness = {
  guard let name = unsafe getenv("PORTCULLIS_HARNESS"),
    let harness = Harness(rawValue: unsafe String(cString: name))
  else { fatalError("PORTCULLIS_HARNESS is none of \(Harness.allCases.map(\.rawValue))") }
  return harness
}()
