/// The names by which the style sheet knows what it dresses.

package enum StyleClass: String, CaseIterable, Sendable {
  case page
}
