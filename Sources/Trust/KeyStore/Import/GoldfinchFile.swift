/// The file behind a `GoldfinchParser`, read with bounded memory beside what its keys take.
internal import Bytes
package import System

package enum GoldfinchFileError: Error, CustomStringConvertible {
  case failed(SystemError)
  case unfit(ForeignFileError)

  package var description: String {
    switch self {
    case .failed(let error): error.description
    case .unfit(let error): error.description
    }
  }
}

package enum GoldfinchFile {
  package static func read(_ path: String, by parser: inout GoldfinchParser) throws(GoldfinchFileError) {
    let file: OwnedDescriptor
    do throws(SystemError) { file = try OwnedDescriptor.open(reading: path) } catch { throw .failed(error) }
    var chunk = [UInt8](repeating: 0, count: pieceLength)
    var waiting: [UInt8] = []
    var isLast = false
    while !isLast {
      let count: Int
      do throws(SystemError) { count = try file.read(into: &chunk) } catch { throw .failed(error) }
      isLast = count == 0
      waiting += chunk.prefix(count)
      if !isLast, waiting.count < pieceLength { continue }
      do throws(ForeignFileError) {
        let taken = try parser.parse(waiting.span, isLast: isLast)
        waiting.removeFirst(taken)
        // A key has some hundred bytes; what has no end is none.
        if waiting.count > longestMember {
          throw ForeignFileError(place: parser.end, reason: "a key without an end")
        }
      } catch {
        throw .unfit(error)
      }
    }
  }

  private static let pieceLength = 1 << 18
  private static let longestMember = 1 << 19
}
