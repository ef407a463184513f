/// The form of the history's file: what is read is what was written, or is left out.
import PortcullisProtocol
import System
import Testing
import Time

@testable import Metrics

@Suite struct HistoryFileTests {
  private static let codes = RefusalCode.allCases.count

  private static func minute(_ number: Int, startedAt: Int64? = nil) -> HistoryMinute {
    var period = HistoryPeriod()
    (period.mostPlayers, period.admissions, period.registrations) = (number, number + 1, number + 2)
    (period.bytesFromPlayers, period.bytesFromGame, period.lagMicroseconds) = (
      number << 20, number << 30, 250
    )
    var refusals = [UInt32](repeating: 0, count: codes)
    (refusals[0], refusals[codes - 1]) = (UInt32(number), 3)
    period.refusals = number + 3
    return HistoryMinute(
      begin: UnixTime(milliseconds: 1_800_000_000_000 + Int64(number) * 60_000),
      startedAt: startedAt.map { UnixTime(milliseconds: 1_800_000_000_000 + $0) }, period: period,
      refusals: refusals)
  }

  private static let three = [minute(0, startedAt: 30_000), minute(1), minute(2)]
  /// Without the empty places.
  private static let short = Array(
    HistoryFile.text(three).prefix(HistoryFile.headBytes + 3 * HistoryFile.placeBytes))

  @Test func whatIsWrittenIsRead() throws {
    let text = HistoryFile.text(Self.three)
    #expect(text.count == HistoryFile.bytes && text.count <= 2 << 20)
    #expect(try HistoryFile.parse(text.span) == Self.three)
    #expect(try HistoryFile.parse(HistoryFile.text([]).span) == [])
  }

  @Test func twoDaysFitAndTheLatestOfMore() throws {
    let minutes = (0..<3000).map { Self.minute($0) }
    let text = HistoryFile.text(minutes)
    #expect(text.count == HistoryFile.bytes)
    #expect(try HistoryFile.parse(text.span) == Array(minutes.suffix(2880)))
    #expect(try HistoryFile.parse((text + text).span).count == 2880)
  }

  /// Earlier programs kept one day.
  @Test func aFileOfOneDayIsRead() throws {
    let minutes = (0..<1440).map { Self.minute($0) }
    let text = HistoryFile.text(minutes).prefix(HistoryFile.headBytes + 1440 * HistoryFile.placeBytes)
    #expect(try HistoryFile.parse(Array(text).span) == minutes)
  }

  @Test func aMinuteWithoutRefusalsHasNone() throws {
    var quiet = Self.minute(5)
    (quiet.period.refusals, quiet.refusals) = (0, [])
    #expect(try HistoryFile.parse(HistoryFile.text([quiet]).span) == [quiet])
  }

  @Test func aPlaceIsWrittenOverAlone() throws {
    var text = HistoryFile.text(Self.three)
    let place = HistoryFile.offset(ofPlace: 2880 + 1)
    text.replaceSubrange(place..<place + HistoryFile.placeBytes, with: HistoryFile.text(Self.minute(9)))
    #expect(try HistoryFile.parse(text.span) == [Self.three[0], Self.minute(9), Self.three[2]])
  }

  @Test func noByteCanBeChanged() {
    for index in Self.short.indices {
      for bit: UInt8 in [1, 0x80] {
        var text = Self.short
        text[index] ^= bit
        let read = try? HistoryFile.parse(text.span)
        var expected: [HistoryMinute]?
        if index >= HistoryFile.headBytes {
          var left = Self.three
          left.remove(at: (index - HistoryFile.headBytes) / HistoryFile.placeBytes)
          expected = left
        }
        if read != expected { Issue.record("byte \(index) is not minded") }
      }
    }
  }

  @Test func whatIsCutLosesItsEnd() throws {
    for count in 0..<Self.short.count {
      let text = Array(Self.short.prefix(count))
      guard count >= HistoryFile.headBytes else {
        #expect(throws: HistoryFileError.damaged) { try HistoryFile.parse(text.span) }
        continue
      }
      let whole = (count - HistoryFile.headBytes) / HistoryFile.placeBytes
      #expect(try HistoryFile.parse(text.span) == Array(Self.three.prefix(whole)))
    }
  }

  @Test func whatIsNoHistoryIsSomebodyElses() {
    for text in ["{\"version\": 1}", "x", "pchist\n\n and more"] {
      #expect(throws: HistoryFileError.foreign) { try HistoryFile.parse(Array(text.utf8).span) }
    }
    for zeros in [0, 7, 8, 4096] {
      #expect(throws: HistoryFileError.damaged) {
        try HistoryFile.parse([UInt8](repeating: 0, count: zeros).span)
      }
    }
  }

  /// With the checksum of such a head.
  private static func head(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
    var head = HistoryFile.head
    change(&head)
    return HistoryFile.sealed(head: head) + short.dropFirst(HistoryFile.headBytes)
  }

  @Test func otherVersionsAreLeftOut() {
    for version: UInt8 in [0, 2, 255] {
      let text = Self.head { $0[8] = version }
      #expect(throws: HistoryFileError.version(UInt32(version))) { try HistoryFile.parse(text.span) }
    }
  }

  /// A program with fewer codes, or with other ones, has written it: what both know counts.
  @Test func codesAreKnownByTheirNames() throws {
    let text = Self.head { $0[20] = UInt8(ascii: "x") }
    let minutes = try HistoryFile.parse(text.span)
    #expect(minutes.map(\.period.refusals) == [3, 3, 3] && minutes.map(\.period.admissions) == [1, 2, 3])
    #expect(minutes.allSatisfy { $0.refusals[0] == 0 && $0.refusals.last == 3 })
  }

  @Test func headsThatCannotBeAreDamaged() {
    let first = RefusalCode.allCases[0].rawValue.utf8.count
    let heads = [
      Self.head { $0[12] &+= 4 }, Self.head { $0[16] &+= 1 }, Self.head { $0[19] = 0xFF },
      // Two names become one.
      Self.head { $0[20 + first] = UInt8(ascii: "_") },
    ]
    for text in heads {
      #expect(throws: HistoryFileError.damaged) { try HistoryFile.parse(text.span) }
    }
  }

  /// Numbers that no gate counts are none, however well they check: sums of them would have no end.
  @Test func minutesThatCannotBeAreLeftOut() throws {
    var minutes = Self.three
    minutes[0].startedAt = UnixTime(milliseconds: minutes[0].begin.milliseconds - 1)
    minutes[1].startedAt = UnixTime(milliseconds: minutes[1].begin.milliseconds + 120_001)
    minutes[2].begin = UnixTime(milliseconds: .max)
    #expect(try HistoryFile.parse(HistoryFile.text(minutes).span) == [])
    var large = Self.minute(1)
    large.period.bytesFromGame = .max
    let read = try HistoryFile.parse(HistoryFile.text([large]).span)
    #expect(read.map(\.period.bytesFromGame) == [1 << 50])
  }
}
