/// What texts look like, whatever they are.

extension String {
  /// What is left of it for the eye: two texts with one skeleton look alike, and whoever has one of them is not taken for
  /// another person than whoever has the other (UTS #39 §4, for the letters that are met). Compared by `==`, which
  /// holds composed and decomposed letters for the same.
  package var skeleton: String {
    var skeleton = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if ShownText.isRefused(scalar) || ShownText.isInvisible(scalar) || scalar.properties.isWhitespace {
        continue
      }
      let plain = LookAlikes.plain(scalar)
      if plain.isASCII {
        skeleton.append(plain)
      } else {
        skeleton.append(contentsOf: plain.properties.lowercaseMapping.unicodeScalars)
      }
    }
    return String(skeleton)
  }

  package func looksLike(_ other: String) -> Bool { isSameText(as: other) || skeleton == other.skeleton }
}
