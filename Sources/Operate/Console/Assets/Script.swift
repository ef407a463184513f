/// `/console.js`: what makes a page live that is whole without it. It writes texts, and points of drawings; nothing that
/// comes from the gate is ever read as markup, and no address leads elsewhere.

extension ConsoleAsset {
  static let scriptText = #"""
    const period = 2000, slowPeriod = 10000, patience = 8000;
    const main = document.getElementById("main");
    const state = document.querySelector("[data-state]");

    // Times, in the reader's zone; the exact one stays in the title.
    const thisYear = new Date().getFullYear();
    const zoned = new Intl.DateTimeFormat(undefined, {
      day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const zonedWithYear = new Intl.DateTimeFormat(undefined, {
      year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

    function showTime(element) {
      const time = new Date(element.dateTime);
      if (Number.isNaN(time.getTime())) return;
      const text = element.classList.contains("countdown") ? left(time)
        : (element.dataset.exact === undefined ? ago(time) : null)
        ?? (time.getFullYear() === thisYear ? zoned : zonedWithYear).format(time);
      if (element.textContent !== text) element.textContent = text;
    }

    // Within a day how long ago, which is what a reader wants to know; else when.
    function ago(time) {
      const seconds = Math.floor((Date.now() - time) / 1000);
      if (seconds < 0 || seconds >= 86400) return null;
      if (seconds < 60) return `${seconds} s ago`;
      return seconds < 3600 ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`;
    }

    function left(time) {
      const seconds = Math.floor((time - Date.now()) / 1000);
      if (seconds < 0) return "over";
      const minutes = Math.floor(seconds / 60);
      if (minutes >= 2880) return `${Math.floor(minutes / 1440)} d ${Math.floor(minutes / 60) % 24} h`;
      if (minutes >= 120) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
      return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
    }

    function showTimes(root) { for (const element of root.querySelectorAll("time")) showTime(element); }

    // The elements that the gate itself would have written for a cell.
    function nodes(cell) {
      if (cell === null || cell === undefined) return [make("span", "–", "quiet")];
      if (typeof cell === "string") return [document.createTextNode(cell)];
      if (Array.isArray(cell)) return cell.map((line) => { const block = make("div"); block.append(...nodes(line)); return block; });
      if (cell.href !== undefined) {
        const link = make("a");
        if (/^\/(?!\/)/.test(cell.href)) link.setAttribute("href", cell.href);
        link.append(...nodes(cell.content));
        return [link];
      }
      if (cell.summary !== undefined) {
        const part = make("details");
        part.append(make("summary", cell.summary), ...nodes(cell.lines));
        return [part];
      }
      if (cell.code !== undefined) return [make("code", cell.code)];
      if (cell.standing !== undefined) return [make("span", cell.text, `badge ${standing(cell.standing)}`)];
      if (cell.time !== undefined || cell.ends !== undefined) {
        const time = make("time", "", cell.ends === undefined ? undefined : "countdown");
        time.dateTime = time.title = cell.time ?? cell.ends;
        showTime(time);
        return [time];
      }
      const text = make("span", cell.text);
      if (cell.title !== undefined) text.title = cell.title;
      return [text];
    }

    function standing(word) { return ["good", "doubtful", "bad"].includes(word) ? word : "neutral"; }

    function make(name, text, style) {
      const element = document.createElement(name);
      if (text !== undefined) element.textContent = text;
      if (style !== undefined) element.className = style;
      return element;
    }

    // Only what has changed is written anew: who reads, selects or has the focus is left alone.
    const shown = new Map();
    function hasChanged(name, value) {
      const text = JSON.stringify(value);
      if (shown.get(name) === text) return false;
      shown.set(name, text);
      return true;
    }

    function show(answer) {
      for (const element of document.querySelectorAll("[data-live]")) {
        const name = element.dataset.live, cell = answer.live?.[name];
        if (cell === undefined || !hasChanged(`live ${name}`, cell)) continue;
        if (typeof cell !== "string") element.replaceChildren(...nodes(cell));
        else if (element.textContent !== cell) element.textContent = cell;
      }
      for (const element of document.querySelectorAll("[data-standing]")) {
        const word = answer.standings?.[element.dataset.standing];
        if (word === undefined) continue;
        element.classList.remove("good", "doubtful", "bad", "neutral");
        element.classList.add(standing(word));
      }
      for (const table of document.querySelectorAll("table[data-table]")) {
        const rows = answer.rows?.[table.dataset.table];
        if (Array.isArray(rows) && hasChanged(`rows ${table.dataset.table}`, rows)) showRows(table, rows);
      }
      for (const part of document.querySelectorAll("[data-some]")) {
        const rows = answer.rows?.[part.dataset.some];
        if (Array.isArray(rows)) part.hidden = rows.length === 0;
      }
      for (const part of document.querySelectorAll("[data-none]")) {
        part.hidden = part.dataset.none.split(" ").some((name) => answer.rows?.[name]?.length > 0);
      }
      for (const drawing of document.querySelectorAll("svg[data-chart]")) {
        const chart = answer.charts?.[drawing.dataset.chart];
        if (chart && hasChanged(`chart ${drawing.dataset.chart}`, chart)) showChart(drawing, chart);
      }
    }

    function showRows(table, rows) {
      const columns = [...table.tHead.rows[0].cells], body = table.tBodies[0];
      const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      const made = rows.map((row) => {
        const line = make("tr");
        columns.forEach((column, index) => {
          const cell = make(index === 0 ? "th" : "td", undefined, column.className || undefined);
          if (index === 0) cell.scope = "row";
          if (column.classList.contains("number")) cell.dataset.label = column.textContent;
          cell.append(...nodes(row[column.dataset.column]));
          line.append(cell);
        });
        return line;
      });
      if (made.length === 0) {
        const line = make("tr"), cell = make("td", table.dataset.empty, "empty");
        cell.colSpan = columns.length;
        line.append(cell);
        made.push(line);
      }
      // A row that was there stays the same element: a click, a selection or the focus in it is not lost.
      const known = new Map();
      for (const line of body.rows) known.set(head(line), [...known.get(head(line)) ?? [], line]);
      const lines = made.map((line) => { const old = known.get(head(line))?.shift(); return old === undefined ? line : changed(old, line); });
      for (const gone of known.values()) for (const line of gone) line.remove();
      lines.forEach((line, index) => { if (body.rows[index] !== line) body.insertBefore(line, body.rows[index] ?? null); });
      if (focused === null || body.contains(document.activeElement)) return;
      for (const link of body.querySelectorAll("a")) if (link.getAttribute("href") === focused) { link.focus(); break; }
    }

    // What a row is about.
    function head(line) {
      const cell = line.cells[0];
      return `${line.cells.length} ${cell.querySelector("a")?.getAttribute("href")} ${cell.textContent}`;
    }

    function changed(line, made) {
      [...made.cells].forEach((cell, index) => {
        const old = line.cells[index];
        if (!old.isEqualNode(cell)) old.replaceChildren(...cell.childNodes);
      });
      return line;
    }

    // Drawings: outlines and lines as the gate has them, hours as the reader's clock has them.
    function showChart(drawing, chart) {
      drawing.setAttribute("aria-label", String(chart.label));
      const outlines = [...(chart.d === undefined ? [] : [chart.d]), ...chart.layers ?? []];
      const paths = [...drawing.querySelectorAll("path:not(.before)")];
      while (paths.length < outlines.length) {
        const path = shape("path", { class: ["three", "two", "one"].at(paths.length - outlines.length) });
        paths.at(-1).after(path);
        paths.push(path);
      }
      paths.forEach((path, index) => path.setAttribute("d", String(outlines[index] ?? "")));
      if (chart.d === undefined) return;
      drawing.querySelector(".before").setAttribute("d", String(chart.before));
      Object.assign(drawing.dataset, { top: chart.top, span: chart.span, end: chart.end });
      const marks = drawing.querySelectorAll("g")[1];
      marks.replaceChildren(...chart.starts.map((x) => across("start", x, 0, x, 200)));
      drawing.parentElement.querySelector(".scale").replaceChildren(...chart.ticks.map((tick) => make("span", tick)));
      showHours(drawing);
    }

    function shape(name, attributes) {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
      return element;
    }

    function across(style, x1, y1, x2, y2) { return shape("line", { class: style, x1, y1, x2, y2 }); }

    function edges(drawing) {
      const right = Date.parse(drawing.dataset.end), span = Number(drawing.dataset.span) * 60000;
      return { right, span, left: right - span };
    }

    function showHours(drawing) {
      const { left, right, span } = edges(drawing), quarter = 900000, marks = [];
      for (let time = Math.ceil(left / quarter) * quarter; time < right; time += quarter) {
        const at = new Date(time), isDue = at.getMinutes() === 0 && at.getHours() % Number(drawing.dataset.hours) === 0;
        if (span <= 3600000 || isDue) marks.push({ share: (time - left) / span, text: clock.format(at) });
      }
      const rows = drawing.parentElement.querySelector(".scale").children.length - 1;
      const lines = marks.map(({ share }) => across("grid", share * 1440, 0, share * 1440, 200));
      for (let row = 1; row < rows; row += 1) lines.push(across("grid", 0, row * 200 / rows, 1440, row * 200 / rows));
      drawing.querySelector("g").replaceChildren(...lines);
      drawing.parentElement.querySelector(".hours").replaceChildren(...marks.filter(({ share }) => share > 0.035 && share < 0.965)
        .map(({ share, text }) => { const label = shape("text", { x: `${share * 100}%`, y: 12 }); label.textContent = text; return label; }));
    }

    // What an outline says at a place, which is as exact as it is drawn.
    function height(path, place) {
      let x = 0, y = 0, found = null;
      for (const [, letter, numbers] of path.getAttribute("d").matchAll(/([Mhv])([^Mhv]*)/g)) {
        const [first, second] = numbers.match(/-?\d+/g).map(Number);
        if (letter === "M") [x, y] = [first, second];
        else if (letter === "v") y += first;
        else {
          if (x <= place && place < x + first) found = y;
          x += first;
        }
      }
      return found === null ? null : 200 - found;
    }

    function amount(number, unit) {
      if (unit === "count") return Math.round(number).toLocaleString("en");
      const units = unit === "bytes" ? ["B", "kB", "MB", "GB", "TB"] : ["µs", "ms", "s"];
      let rank = 0;
      while (number >= 1000 && rank < units.length - 1) { number /= 1000; rank += 1; }
      return `${rank > 0 && number < 100 ? number.toFixed(1) : Math.round(number)} ${units[rank]}`;
    }

    function readOut(drawing) {
      const note = drawing.closest("figure").querySelector(".note"), out = make("span", "", "note");
      const cursor = across("cursor", 0, 0, 0, 200);
      out.hidden = true;
      note.after(out);
      drawing.addEventListener("pointermove", (event) => {
        const box = drawing.getBoundingClientRect(), share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 0.9999);
        const { left, span } = edges(drawing), paths = [...drawing.querySelectorAll("path:not(.before)")];
        const found = paths.map((path) => height(path, share * 1440)), before = height(drawing.querySelector(".before"), share * 1440);
        const of = (value) => amount(value * Number(drawing.dataset.top) / 200, drawing.dataset.unit);
        const names = [...drawing.closest("figure").querySelectorAll(".legend span")].map((name) => name.textContent).filter((name) => name);
        const parts = found.length < 2 ? [] : found.slice(1).reverse().map((value, index, all) => `${names[index]} ${of((value ?? 0) - (all[index - 1] ?? 0))}`);
        if (before !== null) parts.push(`the day before ${of(before)}`);
        out.textContent = `${clock.format(left + share * span)}: ${found[0] === null ? "did not run" : [of(found[0]), ...parts].join(" · ")}`;
        for (const end of ["x1", "x2"]) cursor.setAttribute(end, share * 1440);
        if (!cursor.isConnected) drawing.append(cursor);
        [note.hidden, out.hidden] = [true, false];
      });
      drawing.addEventListener("pointerleave", () => { cursor.remove(); [note.hidden, out.hidden] = [false, true]; });
    }

    // Asking again, as long as somebody looks and wants to.
    let tag = null, timer = null, isPaused = false, isAsking = false, isOver = false;

    function say(text) {
      const status = state.querySelector("[role=status]");
      if (status.textContent !== text) status.textContent = text;
    }

    // A paused page says that it is paused, whatever becomes of a question that was on its way.
    function tell(text) { if (!isPaused) say(text); }

    function askIn(milliseconds) {
      clearTimeout(timer);
      if (!isPaused && !isOver && document.visibilityState === "visible") timer = setTimeout(ask, milliseconds);
    }

    async function ask() {
      if (isAsking) return;
      isAsking = true;
      let next = period;
      try {
        const headers = tag === null ? {} : { "If-None-Match": tag };
        const answer = await fetch(main.dataset.liveFrom, {
          headers, cache: "no-store", redirect: "error", signal: AbortSignal.timeout(patience) });
        if (answer.status === 404) {
          isOver = true;
          state.querySelector("[data-pause]").remove();
          say("This has ended: nothing new will come");
          return;
        }
        if (answer.status === 401 || answer.status === 403) { tell("You are signed out: load the page again"); isAsking = false; return; }
        if (answer.status === 200) {
          const value = await answer.json();
          // What was not shown is asked for again.
          if (!isPaused) { show(value); tag = answer.headers.get("ETag"); }
        }
        if (answer.status === 200 || answer.status === 304) tell("Live");
        else { tell("The gate is busy: trying again"); next = slowPeriod; }
      } catch {
        tell("The gate does not answer: trying again");
        next = slowPeriod;
      }
      isAsking = false;
      askIn(next);
    }

    if (main?.dataset.liveFrom && state) {
      const pause = state.querySelector("[data-pause]");
      state.hidden = false;
      say("Live");
      pause.addEventListener("click", () => {
        isPaused = !isPaused;
        pause.textContent = isPaused ? "Go on" : "Pause";
        say(isPaused ? "Paused" : "Live");
        askIn(0);
      });
      document.addEventListener("visibilitychange", () => askIn(0));
      askIn(period);
    }

    // Of a menu in one row what is open is seen.
    const menu = document.querySelector(".menu ul"), current = menu?.querySelector("[aria-current]");
    if (current) menu.scrollLeft = current.offsetLeft - menu.offsetLeft - 48;
    document.addEventListener("keydown", (event) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      document.querySelector(".find input")?.select();
    });

    showTimes(document);
    for (const drawing of document.querySelectorAll("svg[data-span]")) { showHours(drawing); readOut(drawing); }
    const zone = document.querySelector("[data-zone]");
    if (zone) zone.textContent = `Hours are those of ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`;
    // What was done has been said: who loads the page again is not told once more.
    const address = new URL(location.href);
    if (address.searchParams.has("done")) {
      address.searchParams.delete("done");
      history.replaceState(null, "", address);
    }
    // Also those that come later.
    setInterval(() => { if (!isPaused) showTimes(document); }, 1000);
    // Who sent a form with something wrong in it is led to what it is.
    document.querySelector(".problems")?.focus();

    """#
}
