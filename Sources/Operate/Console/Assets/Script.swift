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
      day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });
    const zonedWithYear = new Intl.DateTimeFormat(undefined, {
      year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });

    function showTime(element) {
      const time = new Date(element.dateTime);
      if (Number.isNaN(time.getTime())) return;
      const text = element.classList.contains("countdown") ? left(time)
        : (time.getFullYear() === thisYear ? zoned : zonedWithYear).format(time);
      if (element.textContent !== text) element.textContent = text;
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
          cell.dataset.label = column.textContent;
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

    function showChart(drawing, chart) {
      drawing.setAttribute("aria-label", String(chart.label));
      drawing.querySelector("path").setAttribute("d", String(chart.d));
      const marks = drawing.querySelector("g"), lines = [];
      for (const start of chart.starts) {
        const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
        line.setAttribute("class", "start");
        for (const [name, value] of [["x1", start], ["y1", 0], ["x2", start], ["y2", 200]]) line.setAttribute(name, Number(value));
        lines.push(line);
      }
      marks.replaceChildren(...lines);
    }

    // Asking again, as long as somebody looks and wants to.
    let tag = null, timer = null, isPaused = false, isAsking = false, isOver = false;

    function say(text) {
      const status = state.querySelector("[role=status]");
      if (status.textContent !== text) status.textContent = text;
    }

    // Whoever has paused it reads that it is paused, whatever becomes of a question that was on its way.
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

    showTimes(document);
    // What was done has been said: who loads the page again is not told once more.
    const address = new URL(location.href);
    if (address.searchParams.has("done")) {
      address.searchParams.delete("done");
      history.replaceState(null, "", address);
    }
    // Also those that come later.
    setInterval(() => { if (!isPaused) for (const element of document.querySelectorAll("time.countdown")) showTime(element); }, 1000);
    // Who sent a form with something wrong in it is led to what it is.
    document.querySelector(".problems")?.focus();

    """#
}
