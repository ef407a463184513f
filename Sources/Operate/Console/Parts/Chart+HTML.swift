/// A chart as HTML, and as JSON from which the script draws the same.
internal import JSON
internal import System
internal import Time

extension HTML {
  mutating func chart(_ chart: Chart) {
    element(.figure, .class(.chart)) { html in
      html.element(.figureCaption) { html in
        html.element(.span, .class(.chartTitle), text: chart.title)
        html.text(" ")
        html.element(.span, .class(.note)) { html in
          html.text("now ")
          html.element(.span, .text(.dataLive, "\(chart.name)-now"), text: chart.now)
          html.text(" · most ")
          html.element(.span, .text(.dataLive, "\(chart.name)-most"), text: chart.most)
        }
      }
      html.element(.div, .class(.plot)) { html in
        html.element(.div, .class(.scale), .fixed(.ariaHidden, "true")) { html in
          for tick in chart.ticks { html.element(.span, text: tick) }
        }
        html.drawing(of: chart)
        html.hours(of: chart)
      }
      if chart.name.description == Chart.layered { html.legend(of: chart) }
    }
  }

  private mutating func drawing(of chart: Chart) {
    element(
      .svg, .fixed(.viewBox, "0 0 1440 200"), .fixed(.preserveAspectRatio, "none"), .fixed(.role, "img"),
      .text(.ariaLabel, chart.description), .text(.dataChart, "\(chart.name)"), .fixed(.focusable, "false"),
      .text(.dataUnit, chart.unit.rawValue), .number(.dataTop, chart.top), .number(.dataSpan, chart.span),
      .number(.dataHours, chart.hoursApart), .text(.dataEnd, chart.end.timestamp)
    ) { html in
      html.element(.g) { html in
        for hour in chart.hours { html.line(.grid, hour.x, 0, hour.x, Chart.height) }
        for line in 1..<max(chart.scale.count, 2) {
          let y = line * Chart.height / chart.scale.count
          html.line(.grid, 0, y, Chart.width, y)
        }
      }
      html.element(.path, .class(.area, chart.layers.isEmpty ? nil : .rest), .drawing(chart.outline))
      for (layer, style) in zip(chart.layers.reversed(), Chart.layerStyles.suffix(chart.layers.count)) {
        html.element(.path, .class(style), .drawing(chart.outline(of: layer.values)))
      }
      html.element(.path, .class(.before), .drawing(chart.line))
      html.element(.g) { html in
        for start in chart.starts {
          let x = start * Chart.width / chart.span
          html.line(.start, x, 0, x, Chart.height)
        }
      }
      html.line(.base, 0, Chart.height, Chart.width, Chart.height)
    }
  }

  private mutating func hours(of chart: Chart) {
    element(.svg, .class(.hours), .fixed(.ariaHidden, "true"), .fixed(.focusable, "false")) { html in
      for hour in chart.hours where Chart.clear.contains(hour.x) {
        html.element(.text, .share(.x, hour.x, of: Chart.width), .number(.y, 12), text: hour.text)
      }
    }
  }

  private mutating func legend(of chart: Chart) {
    element(.div, .class(.legend)) { html in
      for (index, style) in [StyleClass.one, .two, .three].enumerated() {
        html.element(
          .span, .class(style), .text(.dataLive, "\(chart.name)-\(index)"), text: chart.layerTitle(index))
      }
      html.element(.span, .class(.rest), text: "others")
    }
  }

  private mutating func line(_ style: StyleClass, _ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int) {
    element(
      .line, .class(style), .number(.fromX, x1), .number(.fromY, y1), .number(.toX, x2), .number(.toY, y2))
  }
}

extension Chart {
  /// The one that says what it is made of.
  static let layered = "chart-refusals"
  fileprivate static let layerStyles: [StyleClass] = [.three, .two, .one]
  /// Where a label is whole.
  fileprivate static let clear = 50...1390

  fileprivate func layerTitle(_ index: Int) -> String { index < layers.count ? layers[index].title : "" }

  func writeValues(to writer: inout JSONWriter) {
    writer.member("\(name)-now", now)
    writer.member("\(name)-most", most)
    guard name.description == Self.layered else { return }
    for index in Self.layerStyles.indices { writer.member("\(name)-\(index)", layerTitle(index)) }
  }

  func writeDrawing(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("label", description)
    writer.member("d", outline.text)
    writer.member("before", line.text)
    writer.name("layers")
    writer.beginArray()
    for layer in layers.reversed() { writer.value(outline(of: layer.values).text) }
    writer.endArray()
    writer.name("starts")
    writer.beginArray()
    for start in starts { writer.value(start * Self.width / span) }
    writer.endArray()
    writer.name("ticks")
    writer.beginArray()
    for tick in ticks { writer.value(tick) }
    writer.endArray()
    writer.name("top")
    writer.value(top)
    writer.name("span")
    writer.value(span)
    writer.member("end", end.timestamp)
    writer.endObject()
  }
}
