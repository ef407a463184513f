import Testing

@testable import WebSocketWire

/// RFC 7692 §5 and §7.1: which offers are granted, and how.
@Suite struct PermessageDeflateTests {
  private func agreed(_ offers: String, room: Int = .max) throws -> PermessageDeflate? {
    PermessageDeflate.agreed(on: try #require(ExtensionOffer.list(Array(offers.utf8)))) { $0 <= room }
  }

  private static let plain = "permessage-deflate; server_no_context_takeover"

  /// The offer's parameters, then what the answer adds, both windows, and what is kept of the client's.
  static let grants: [(String, String, server: Int, client: Int, kept: Int)] = [
    // What Apple's stack and OkHttp offer.
    ("", "", 15, 15, 32_768),
    ("; server_no_context_takeover", "", 15, 15, 32_768),
    ("; client_no_context_takeover", "; client_no_context_takeover", 15, 15, 0),
    ("; client_no_context_takeover; server_no_context_takeover", "; client_no_context_takeover", 15, 15, 0),
    // What browsers offer.
    ("; client_max_window_bits", "; client_max_window_bits=12", 15, 12, 4096),
    ("; client_max_window_bits=15", "; client_max_window_bits=12", 15, 12, 4096),
    ("; client_max_window_bits=12", "; client_max_window_bits=12", 15, 12, 4096),
    ("; client_max_window_bits=11", "; client_max_window_bits=11", 15, 11, 2048),
    ("; client_max_window_bits=9", "; client_max_window_bits=9", 15, 9, 512),
    ("; client_max_window_bits=8", "", 15, 15, 32_768),
    ("; client_max_window_bits=\"10\"", "; client_max_window_bits=10", 15, 10, 1024),
    ("; server_max_window_bits=15", "; server_max_window_bits=15", 15, 15, 32_768),
    ("; server_max_window_bits=9", "; server_max_window_bits=9", 9, 15, 32_768),
    (
      "; client_max_window_bits; client_no_context_takeover",
      "; client_no_context_takeover; client_max_window_bits=12", 15, 12, 0
    ),
    (
      "; server_max_window_bits=10; client_max_window_bits=14; server_no_context_takeover",
      "; server_max_window_bits=10; client_max_window_bits=12", 10, 12, 4096
    ),
  ]

  /// Nothing is asked of a client that it has not offered: iOS 15.0 to 15.3 keeps its window whatever the answer is.
  @Test(arguments: grants)
  func granted(offer: String, answer: String, server: Int, client: Int, kept: Int) throws {
    let agreement = try #require(try agreed("permessage-deflate" + offer))
    #expect(agreement.response == Self.plain + answer)
    #expect(agreement.serverWindowBits == server)
    #expect(agreement.clientWindowBits == client)
    #expect(agreement.keptWindowBytes == kept)
    // Where there is no room for its window, such an offer is declined.
    for (room, isGranted) in [(kept - 1, kept == 0), (kept, true), (0, kept == 0)] {
      #expect((try agreed("permessage-deflate" + offer, room: room) != nil) == isGranted, "\(room)")
    }
  }

  @Test func withoutRoomALaterOfferIsGranted() throws {
    let offers = "permessage-deflate, permessage-deflate; client_max_window_bits, permessage-deflate; "
    let last = "client_no_context_takeover; server_max_window_bits=9"
    #expect(try agreed(offers + last, room: 4096)?.clientWindowBits == 12)
    #expect(try agreed(offers + last, room: 4095)?.serverWindowBits == 9)
    #expect(try agreed("permessage-deflate", room: 32_767) == nil)
  }

  /// RFC 7692 §7.1: declined for an unknown parameter, a bad value, a parameter twice; zlib's limit at 8
  /// bits.
  static let refusals = [
    "; server_max_window_bits", "; server_max_window_bits=8", "; server_max_window_bits=7",
    "; server_max_window_bits=16", "; server_max_window_bits=09", "; server_max_window_bits=-9",
    "; server_max_window_bits=1e1", "; server_max_window_bits=\"8\"", "; client_max_window_bits=7",
    "; client_max_window_bits=16", "; client_max_window_bits=010", "; client_max_window_bits=+9",
    "; client_max_window_bits=99999999999999999999", "; server_no_context_takeover=1",
    "; client_no_context_takeover=true", "; mux", "; Server_No_Context_Takeover", "; window_bits=10",
    "; client_max_window_bits; client_max_window_bits",
    "; client_max_window_bits=10; client_max_window_bits=10",
    "; server_max_window_bits=10; server_max_window_bits=11",
    "; server_no_context_takeover; server_no_context_takeover",
    "; client_no_context_takeover; client_no_context_takeover",
  ]

  @Test(arguments: refusals) func declined(offer: String) throws {
    #expect(try agreed("permessage-deflate" + offer) == nil)
    // RFC 7692 §5.1: an offer that cannot be granted leaves the next one its chance.
    let next = try agreed("permessage-deflate\(offer), permessage-deflate; server_max_window_bits=9")
    #expect(next?.serverWindowBits == 9)
  }

  @Test(arguments: [
    "", "x-webkit-deflate-frame", "permessage-bzip2", "permessage-deflat, permessage-deflate2",
  ])
  func otherExtensions(offers: String) throws {
    #expect(try agreed(offers) == nil)
  }

  @Test func firstOfSeveral() throws {
    let offers = "foo; a=b, permessage-deflate; server_max_window_bits=10, permessage-deflate"
    #expect(try agreed(offers)?.serverWindowBits == 10)
    #expect(
      try agreed("permessage-deflate, permessage-deflate; server_max_window_bits=10")?.serverWindowBits == 15)
  }

  // MARK: As a client

  private func answered(_ text: String) -> PermessageDeflate? {
    PermessageDeflate(answering: Array(text.utf8))
  }

  /// What the gate's server side says to the client side's offer is understood there.
  @Test func bothSides() throws {
    let agreement = try #require(try agreed(PermessageDeflate.offer))
    #expect(answered(agreement.response) == agreement)
    #expect(agreement.clientWindowBits == 12)
  }

  @Test(arguments: [
    "", "permessage-deflate", "permessage-deflate; client_no_context_takeover",
    "foo; server_no_context_takeover",
    "permessage-deflate; server_no_context_takeover; client_max_window_bits",
    "permessage-deflate; server_no_context_takeover; server_max_window_bits=16",
    "permessage-deflate; server_no_context_takeover, permessage-deflate; server_no_context_takeover",
    "permessage-deflate; server_no_context_takeover; other",
    "permessage-deflate; server_no_context_takeover;",
  ])
  func noAnswer(text: String) {
    #expect(answered(text) == nil)
  }
}
