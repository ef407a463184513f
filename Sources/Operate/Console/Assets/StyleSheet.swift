/// `/style.css`: system fonts, light and dark as the reader's system is, narrow and wide; nothing moves.

extension ConsoleAsset {
  static let styleSheet = colours + frame + words + parts + drawings + forms + narrow

  /// Each pair of text and ground has a contrast of 4.5 at least (WCAG 2.2, 1.4.3), lines of parts 3 (1.4.11).
  private static let colours = """
    :root {
      color-scheme: light dark;
      --ground: #f3f5f8; --panel: #ffffff; --text: #18202b; --soft: #525e6e; --line: #d6dce4;
      --edge: #76808e; --link: #0a55a6; --focus: #0a55a6; --on: #ffffff; --shade: #eef1f5;
      --good: #0b6138; --good-ground: #e2f3e9; --doubtful: #744600; --doubtful-ground: #fdf0d4;
      --bad: #9d1420; --bad-ground: #fde8e9; --neutral: #47525f; --neutral-ground: #e9edf2;
      --danger: #b01522; --area: #c9dcf3; --area-line: #2a6cb8; --start: #744600;
      --one: #2a6cb8; --two: #c05a12; --three: #7a3fb0; --shaky: #c98a00;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #10141a; --panel: #181e26; --text: #e5eaf1; --soft: #a4afbd; --line: #2c3540;
        --edge: #7f8b99; --link: #84bdff; --focus: #ffd166; --on: #0c1117; --shade: #212934;
        --good: #74d6a1; --good-ground: #12301f; --doubtful: #f2c46c; --doubtful-ground: #35280c;
        --bad: #ffa09b; --bad-ground: #3c1719; --neutral: #b9c3cf; --neutral-ground: #28313c;
        --danger: #ffa09b; --area: #1f3d5f; --area-line: #6fb0f7; --start: #f2c46c;
        --one: #6fb0f7; --two: #f0a35e; --three: #c3a1f5; --shaky: #f2c46c;
      }
    }

    """

  private static let frame = """
    * { box-sizing: border-box; }
    body {
      margin: 0; background: var(--ground); color: var(--text); overflow-wrap: break-word;
      font: 0.9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
    }
    a { color: var(--link); text-underline-offset: 0.25em; }
    a:has(code) { text-underline-offset: 0.35em; }
    :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; border-radius: 3px; }
    main:focus { outline: none; }
    .skip { position: absolute; left: -99rem; top: 0; padding: 0.5rem 1rem; background: var(--panel); }
    .skip:focus { left: 0; z-index: 1; }
    .bar, .menu, main, .foot { max-width: 84rem; margin: 0 auto; padding: 0 1.5rem; }
    .bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem; padding-top: 0.75rem; }
    .mark { display: flex; align-items: center; gap: 0.5rem; font-weight: 650; font-size: 1.0625rem; }
    .icon { width: 1.25rem; height: 1.25rem; stroke: var(--area-line); stroke-width: 2; fill: none; }
    .gate { color: var(--soft); }
    .find { display: flex; align-items: center; gap: 0.5rem; margin-left: auto; }
    .find input[type="text"] { width: 16rem; min-width: 0; flex: 1 1 auto; min-height: 2rem; padding: 0.125rem 0.625rem; font-size: 0.875rem; }
    .find .plain { min-height: 2rem; }
    ::placeholder { color: var(--soft); opacity: 1; }
    .who { display: flex; align-items: center; gap: 0.75rem; margin-left: auto; color: var(--soft); }
    .find + .who { margin-left: 1rem; }
    .menu { border-bottom: 1px solid var(--line); padding-top: 0.25rem; }
    .menu ul { display: flex; flex-wrap: wrap; gap: 0 0.25rem; list-style: none; margin: 0 -0.75rem; padding: 0; }
    .menu a {
      display: block; padding: 0.5rem 0.75rem; color: var(--text); text-decoration: none;
      border-bottom: 3px solid transparent; margin-bottom: -1px;
    }
    .menu li { display: flex; align-items: center; white-space: nowrap; }
    .menu .count { margin: 0 0.5rem 2px -0.25rem; }
    .count { padding: 0 0.4375rem; border-radius: 1rem; background: var(--doubtful-ground); color: var(--doubtful); font-size: 0.8125rem; font-weight: 650; }
    .count:empty { display: none; }
    .menu a:hover { border-color: var(--edge); }
    .menu a[aria-current] { border-color: var(--area-line); font-weight: 600; }
    main { padding-top: 1.5rem; padding-bottom: 2rem; }
    .head { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem; margin-bottom: 1rem; }
    .crumb { margin: -0.5rem 0 0.25rem; }
    .crumb a { display: inline-block; padding: 0.125rem 0; }
    .crumb a::before { content: "‹ "; content: "‹ " / ""; }
    h1 { font-size: 1.625rem; line-height: 1.25; margin: 0; font-weight: 650; }
    h2 { font-size: 1.125rem; line-height: 1.35; margin: 2rem 0 0.75rem; font-weight: 650; }
    .lede { margin: -0.5rem 0 1.25rem; color: var(--soft); max-width: 44rem; }
    .live { display: flex; align-items: center; gap: 0.75rem; margin-left: auto; color: var(--soft); }
    .live[hidden] { display: none; }
    .foot { color: var(--soft); font-size: 0.875rem; padding-bottom: 2rem; }
    .only-read {
      position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
    }
    .alone { max-width: 34rem; padding-top: 10vh; }
    .alone .panel { padding: 1.5rem; }
    .alone .mark { margin-bottom: 1rem; }
    .alone .gate { font-weight: 400; font-size: 0.9375rem; }

    """

  private static let words = """
    dd, .lede, .notice, h1, td, th, .hint, li { overflow-wrap: anywhere; }
    code, tbody .standing, tbody .whole, thead th { overflow-wrap: normal; }
    dd code, .words code, summary + code { overflow-wrap: anywhere; }
    code { font: 0.9375em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
    p { max-width: 44rem; }
    .quiet, .note, .hint { color: var(--soft); }
    .badge {
      display: inline-block; padding: 0 0.5rem; border-radius: 1rem; font-size: 0.8125rem; font-weight: 550;
      border: 1px solid transparent; overflow-wrap: break-word;
    }
    .good { color: var(--good); background: var(--good-ground); }
    .doubtful { color: var(--doubtful); background: var(--doubtful-ground); }
    .bad { color: var(--bad); background: var(--bad-ground); }
    .neutral { color: var(--neutral); background: var(--neutral-ground); }
    .notice { margin: 0 0 1rem; padding: 0.625rem 1rem; border-left: 4px solid currentColor; max-width: none; }
    .notice a { color: inherit; }
    .notice > p:first-child { margin-top: 0; }
    .notice > :last-child { margin-bottom: 0; }
    .verdict { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.125rem 1rem; margin: 0 0 1rem; padding: 1rem 1.25rem; border-left: 6px solid currentColor; border-radius: 4px; }
    .verdict strong { font-size: 1.375rem; line-height: 1.3; font-weight: 650; }
    .waits h2 { margin: 0 0 0.5rem; }
    .waits table { background: none; border: 0; color: var(--text); font-size: 0.9375rem; }
    .waits thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .waits th, .waits td { border-top-color: var(--start); padding-left: 0; }
    .waits tbody tr:first-child > * { border-top: 0; }
    .waits tr:hover { background: none; }
    .waits a { color: var(--link); }
    .command { display: inline-block; padding: 0.5rem 0.75rem; background: var(--shade); border-radius: 4px; user-select: all; }
    .words { white-space: pre-wrap; max-width: 44rem; margin: 0; }
    .words + .facts { margin-top: 0.75rem; }

    """

  private static let parts = """
    .panel { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 1rem 1.25rem; margin: 0 0 1rem; }
    .panel > :first-child, .panels > * > :first-child, .panels > div > :first-child > h2 { margin-top: 0; }
    .panel > :last-child { margin-bottom: 0; }
    .panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 1.5rem; align-items: start; }
    .panels > * { min-width: 0; margin-top: 2rem; }
    .facts { margin: 0; }
    .panel > .facts:first-child { margin-top: -0.3125rem; }
    .panel > .facts:last-child { margin-bottom: -0.3125rem; }
    .facts > div { display: grid; grid-template-columns: minmax(8rem, 12rem) 1fr; gap: 0 1rem; padding: 0.3125rem 0; border-bottom: 1px solid var(--line); }
    .facts > div:last-child { border-bottom: 0; }
    dt { color: var(--soft); min-width: 0; }
    dd { margin: 0; min-width: 0; }
    .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: 1px; margin: 0 0 1rem; background: var(--line); border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
    .figures > div { background: var(--panel); padding: 0.75rem 1.25rem; }
    .large { font-size: 1.75rem; line-height: 1.25; font-weight: 600; font-variant-numeric: tabular-nums; }
    .figures .note { font-size: 0.875rem; }
    table { width: 100%; border-collapse: collapse; font-size: 0.875rem; background: var(--panel); border: 1px solid var(--line); }
    caption { text-align: left; font-size: 0.9375rem; padding: 0 0 0.5rem; color: var(--soft); }
    th, td { padding: 0.4375rem 0.625rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); min-width: 4rem; }
    thead th { font-size: 0.8125rem; font-weight: 600; color: var(--soft); background: var(--shade); border-top: 0; overflow-wrap: normal; vertical-align: bottom; }
    thead .number { white-space: normal; }
    tbody th { font-weight: inherit; }
    tbody th:has(code) { min-width: 13rem; }
    tbody td:has(> code) { min-width: 8.5rem; }
    tbody time { white-space: nowrap; }
    tbody tr:hover { background: var(--shade); }
    .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
    time { font-variant-numeric: tabular-nums; }
    td.empty { padding: 1.5rem 0.625rem; text-align: center; color: var(--soft); }
    td a, th a, dd a { display: inline-block; min-width: 1.5rem; min-height: 1.5rem; }
    .standing { white-space: nowrap; }
    .pages { display: flex; gap: 1.5rem; margin-top: 1rem; }
    .pages a { padding: 0.25rem 0; }
    details { margin: 0 0 1rem; }
    td details { margin: 0; }
    td summary { padding: 0; }
    summary { color: var(--link); cursor: pointer; padding: 0.25rem 0; width: fit-content; }

    """

  private static let drawings = """
    .charts { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1rem; margin-bottom: 0.5rem; }
    .charts > :first-child { grid-column: 1 / -1; }
    .chart { margin: 0; min-width: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem 1rem; }
    figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; margin-bottom: 0.5rem; }
    .chart-title { font-weight: 600; }
    .chart:not(:first-child) figcaption { flex-direction: column; }
    .chart .note { font-size: 0.875rem; font-variant-numeric: tabular-nums; }
    .plot { display: grid; grid-template-columns: auto 1fr; gap: 0 0.5rem; font-size: 0.75rem; color: var(--soft); }
    .scale { display: flex; flex-direction: column; justify-content: space-between; text-align: right; line-height: 0; min-width: 2.5rem; height: 5rem; }
    .chart:not(:first-child) .scale span:not(:first-child, :last-child) { visibility: hidden; }
    .plot > svg { display: block; width: 100%; height: 5rem; overflow: visible; }
    .charts > :first-child .scale, .charts > :first-child svg:not(.hours) { height: 9rem; }
    .plot > .hours { grid-column: 2; height: 1rem; margin-top: 0.25rem; fill: var(--soft); text-anchor: middle; }
    .plot svg *, .strip svg * { vector-effect: non-scaling-stroke; }
    .area { fill: var(--area); stroke: var(--area-line); stroke-width: 1.25; stroke-linejoin: round; }
    .area.rest { stroke: none; }
    .before { fill: none; stroke: var(--text); stroke-width: 1; filter: drop-shadow(0 0 1px var(--panel)); }
    .one { fill: var(--one); --swatch: var(--one); }
    .two { fill: var(--two); --swatch: var(--two); }
    .three { fill: var(--three); --swatch: var(--three); }
    .rest { fill: var(--edge); --swatch: var(--edge); }
    .legend { display: flex; flex-wrap: wrap; gap: 0 0.75rem; margin-top: 0.25rem; font-size: 0.75rem; color: var(--soft); }
    .legend span::before { content: ""; display: inline-block; width: 0.625rem; height: 0.625rem; margin-right: 0.25rem; background: var(--swatch); }
    .legend span:empty, .legend .one:empty ~ .rest { display: none; }
    .grid { stroke: var(--line); stroke-width: 1; }
    .base { stroke: var(--edge); stroke-width: 1; }
    .cursor { stroke: var(--text); stroke-width: 1; pointer-events: none; }
    .strip { margin: 0 0 1rem; }
    .strip svg { display: block; width: 100%; height: 0.75rem; border-radius: 3px; background: var(--line); }
    .strip figcaption { margin: 0.25rem 0 0; font-size: 0.875rem; }
    .up { fill: var(--good); }
    .shaky { fill: var(--shaky); }
    .down { fill: var(--danger); }
    .scan { display: block; max-width: 100%; height: auto; background: #fff; }
    .scan path { stroke: #000; stroke-width: 1; fill: none; shape-rendering: crispEdges; }
    .start { stroke: var(--start); stroke-width: 1.5; stroke-dasharray: 4 3; }

    """

  private static let forms = """
    form { margin: 0; }
    label { display: block; font-weight: 550; }
    .hint { max-width: 36rem; }
    input[type="text"], select {
      font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--edge); border-radius: 4px;
      padding: 0.375rem 0.625rem; min-height: 2.25rem; width: 100%; max-width: 30rem;
    }
    input.digits[type="text"] { max-width: 10rem; font-size: 1.25rem; letter-spacing: 0.2em; font-variant-numeric: tabular-nums; }
    .field { margin-bottom: 1rem; }
    .field.problem { border-left: 4px solid var(--bad); padding-left: 0.75rem; }
    .field.problem p { color: var(--bad); font-weight: 550; margin: 0 0 0.25rem; }
    .field.problem input { border: 2px solid var(--bad); }
    .problems { border: 2px solid var(--bad); border-radius: 6px; background: var(--panel); padding: 1rem 1.25rem; margin-bottom: 1.5rem; }
    .problems h2 { margin: 0 0 0.5rem; color: var(--bad); }
    .problems ul { margin: 0; padding-left: 1.25rem; }
    .problems li { padding: 0.125rem 0; }
    .problems a { color: var(--bad); }
    .actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1.25rem; }
    .actions a:not(.button) { padding: 0.25rem 0; }
    .button {
      font: inherit; font-weight: 550; cursor: pointer; min-height: 2.25rem; padding: 0.375rem 1rem; border-radius: 4px;
      color: var(--on); background: var(--link); border: 1px solid var(--link); text-decoration: none; display: inline-block;
    }
    .outline { background: var(--panel); color: var(--link); border-color: var(--edge); }
    .apart { gap: 0.5rem 4rem; }
    .blank { padding: 2rem 1.25rem; }
    .danger { background: var(--danger); border-color: var(--danger); }
    .plain {
      font: inherit; font-size: 0.875rem; cursor: pointer; min-height: 1.75rem; padding: 0.125rem 0.625rem; border-radius: 4px;
      color: var(--text); background: var(--panel); border: 1px solid var(--edge);
    }
    .filter { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0.75rem 1rem; margin-bottom: 1.25rem; }
    .filter .field { display: flex; flex-direction: column; margin: 0; flex: 1 1 9rem; max-width: 15rem; }
    .filter .hint { order: 1; font-size: 0.8125rem; }
    .filter .actions { margin-top: 1.5em; }
    .pairing { display: grid; grid-template-columns: auto 1fr; gap: 0 1.5rem; align-items: start; }
    .pairing > * { margin-top: 0; min-width: 0; }
    .pairing > div > form { margin-bottom: 1rem; }

    """

  /// Down to 600 px a table has fewer columns; below that each row takes two lines, the second of which says the rest
  /// (WCAG 2.2, 1.4.10).
  private static let narrow = """
    @media (max-width: 70rem) { .charts { grid-template-columns: repeat(2, 1fr); } }
    @media (max-width: 62rem) {
      .bar, .menu, main, .foot { padding-left: 1rem; padding-right: 1rem; }
      .minor { display: none; }
      .menu ul { margin: 0 -0.5rem; }
      .menu a { padding: 0.5rem; }
      .figures { grid-template-columns: repeat(3, 1fr); }
    }
    @media (max-width: 37.5rem) {
      .bar { gap: 0.25rem 0.625rem; }
      .find { order: 1; flex: 1 1 100%; min-width: 0; margin: 0.25rem 0 0; }
      .find input[type="text"] { width: 100%; }
      .find + .who { margin-left: auto; gap: 0.5rem; }
      .charts > :first-child .hours text:nth-child(even) { display: none; }
      .menu ul { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; margin: 0 -1rem; padding: 0 0.5rem; }
      .charts { grid-template-columns: 1fr; }
      .figures { grid-template-columns: 1fr 1fr; }
      .figures > div { padding: 0.625rem 1rem; }
      .facts > div, .pairing { grid-template-columns: 1fr; }
      .filter .field { flex: 1 1 100%; max-width: none; }
      .filter .actions { margin-top: 0; }
      table, tbody, td, th { display: block; }
      caption { display: block; padding: 0.5rem 0.75rem 0; }
      caption.only-read { padding: 0; }
      thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
      tbody tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; border-top: 1px solid var(--line); padding: 0.5rem 0.75rem; }
      tbody tr:first-child { border-top: 0; }
      tbody th, tbody td { border: 0; padding: 0; min-width: 0; text-align: left; }
      tbody th:has(code), tbody td:has(> code) { min-width: 0; }
      tbody th { flex: 1 1 auto; max-width: 100%; font-weight: 600; order: 0; }
      tbody .standing { order: 0; }
      tbody tr::before { content: ""; order: 1; flex: 0 0 100%; }
      tbody td { order: 2; color: var(--soft); max-width: 100%; }
      tbody td.number::before { content: attr(data-label) " "; }
      tbody td:has(> .quiet), tbody .minor { display: none; }
      td.empty { flex: 1 1 auto; padding: 0.75rem 0; }
    }
    @media (forced-colors: active) {
      .badge, .notice, .verdict, .count { border: 1px solid; }
      .button, .plain { border: 2px solid; }
    }

    """
}
