/// Says that a call held which changes what it is called on: the macro cannot make one.
import Testing

func holds(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(condition, sourceLocation: sourceLocation)
}
