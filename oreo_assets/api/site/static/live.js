// The grid of a live session. An edit is kept here until the server has answered it, also across a reload of the
// page: each has a key of its own, so that sending it again cannot do it twice. Cells are data: all is set as text.
window.oreoLive = (() => {
  const RETRY = 1500, PAGE = 200, MOST_ROWS = 10000, NAMED = 100, LISTED = 100;
  let api, root, address, rowsAddress, session, columns = [], mayEdit = false;
  let queue = [], pending = new Map(), refused = new Map();
  let busy = false, away = false, timer = null, next = null, loading = false, asked = { where: [], changed: false }, order = "";
  let can = { undo: false, redo: false };

  // ---- small helpers
  const by = (id) => document.getElementById(id);
  const key = (row, column) => row + "\u0000" + column;
  const columnOf = (colId) => columns[Number(colId.slice(1))];
  const several = (n, one, many) => n.toLocaleString("en").replaceAll(",", "\u202f") + " " + (n === 1 ? one : many || one + "s");
  const shownValue = (v) => (v === null || v === undefined ? "null" : v === "" ? "“”" : "“" + (v.length > 80 ? v.slice(0, 80) + "…" : v) + "”");
  const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
  function make(tag, classes, text) {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  // ---- what the page says of itself
  function say(place, kind, what, remedy, list) {
    const box = by(place);
    if (!box) return;
    box.replaceChildren();
    if (!what) return;
    const notice = make("div", "o-notice " + kind);
    notice.setAttribute("role", kind === "bad" || kind === "warn" ? "alert" : "status");
    const body = make("div");
    body.append(make("b", "pre", what));
    if (remedy) body.append(make("div", "soft", remedy));
    if (list && list.length) {
      const items = make("ul", "small o-live-faults");
      list.slice(0, LISTED).forEach((text) => items.append(make("li", "wrap", text)));
      if (list.length > LISTED) items.append(make("li", "soft", "and " + (list.length - LISTED) + " more"));
      body.append(items);
    }
    notice.append(body);
    const close = make("button", "o-button quiet small", "×");
    close.type = "button";
    close.setAttribute("aria-label", "Close this message");
    close.onclick = () => box.replaceChildren();
    notice.append(close);
    box.append(notice);
  }
  const told = (kind, what, remedy, list) => say("live-said", kind, what, remedy, list);

  function standing() {
    let bar = by("live-standing");
    if (!bar && root) {
      bar = make("div", "o-live-standing");
      bar.id = "live-standing";
      bar.setAttribute("role", "status");
      root.before(bar);
    }
    if (!bar) return;
    const cells = queue.reduce((n, entry) => n + entry.cells.length, 0);
    bar.classList.toggle("away", away);
    bar.classList.toggle("busy", !away && queue.length > 0);
    document.documentElement.classList.toggle("o-live-away", away);
    if (away && cells) bar.textContent = "The server is away. " + several(cells, "edit") + " not saved: kept in this browser, and sent as soon as it is back.";
    else if (away) bar.textContent = "The server is away. Everything you did until now is saved; what you do meanwhile is kept here.";
    else if (cells) bar.textContent = "Saving " + several(cells, "edit") + " …";
    else bar.textContent = mayEdit ? "All edits are saved." : "";
    const set = (id, on) => { const b = by(id); if (b) b.toggleAttribute("disabled", !on); };
    set("live-undo", can.undo && !away && !queue.length);
    set("live-redo", can.redo && !away && !queue.length);
    set("live-delete", !away);
  }

  // ---- cells
  const value = (p) => {
    if (!p.data) return null;
    const name = columnOf(p.column.getColId()).name;
    const waiting = pending.get(key(p.data.id, name));
    return waiting === undefined ? p.data.cells[name] : waiting;
  };
  const at = (p) => p.data && key(p.data.id, columnOf(p.column.getColId()).name);
  const nameAt = (p) => columnOf(p.column.getColId()).name;
  const worst = (p) => {
    const failed = p.data && p.data.failed[nameAt(p)];
    if (!failed || !failed.length) return null;
    return ["fatal", "warning", "info"].find((s) => failed.some((f) => f.severity === s)) || "warning";
  };
  const changed = (p) => p.data && nameAt(p) in p.data.old;
  const classes = {
    "o-live-changed": (p) => changed(p) && !pending.has(at(p)),
    "o-live-new": (p) => p.data && p.data.change === "inserted",
    "o-live-unsaved": (p) => pending.has(at(p)),
    "o-live-refused": (p) => refused.has(at(p)),
    "o-live-fatal": (p) => worst(p) === "fatal",
    "o-live-warning": (p) => worst(p) === "warning",
    "o-live-info": (p) => worst(p) === "info",
    "o-live-fixed": (p) => mayEdit && columnOf(p.column.getColId()).fixed,
  };
  const rowClasses = { "o-live-deleted": (p) => p.data && p.data.change === "deleted" };
  function words(p) {
    if (!p.data) return "";
    const lines = [], name = nameAt(p), no = refused.get(at(p));
    if (no) lines.push(shownValue(no.value) + " was not taken: " + no.reason);
    if (pending.has(at(p))) lines.push("Not saved yet.");
    if (changed(p)) lines.push("Before: " + shownValue(p.data.old[name]));
    for (const failed of p.data.failed[name] || []) lines.push("Fails (" + failed.severity + "): " + failed.expected);
    if (!lines.length) return value(p);
    return lines.join("\n");
  }
  const KINDS = { inserted: "+", updated: "Δ", deleted: "−" };
  function rowCell(p) {
    const box = make("span", "o-cell");
    if (!p.data) return box;
    const waits = queue.some((entry) => entry.cells.some((cell) => cell.row_id === p.data.id));
    const kind = p.data.change === "unchanged" && waits ? "updated" : p.data.change;
    if (KINDS[kind]) {
      const sign = make("span", "o-sign " + kind, KINDS[kind]);
      sign.setAttribute("aria-label", kind);
      box.append(sign);
    }
    box.append(make("span", "", p.data.id));
    if (p.data.others.length) {
      const chip = make("span", "o-chip warn o-live-others", "✎");
      chip.setAttribute("aria-label", "changed by " + others(p.data).join(", ") + " too");
      box.append(chip);
    }
    return box;
  }
  const others = (row) => row.others.map((name) => (name === root.dataset.me ? "you" : name));
  const rowWords = (p) => p.data ? p.data.id + (p.data.others.length ? "\nChanged in another open session too, by " + others(p.data).join(", ") + "." : "") : "";
  const editable = (p) => mayEdit && p.data && p.data.change !== "deleted" && !(columnOf(p.column.getColId()).fixed);
  const fresh = (ids) => {
    if (!api) return;
    const nodes = ids ? ids.map((id) => api.getRowNode(id)).filter(Boolean) : undefined;
    api.refreshCells({ rowNodes: nodes, force: true });
    if (!ids || ids.length) api.redrawRows(nodes ? { rowNodes: nodes } : undefined);
  };

  // ---- the reason beside the cell: it goes where its cell goes, until something else is done
  let beneath = null;
  function beside(row, column, text) {
    unbeside();
    beneath = { row, place: columns.findIndex((c) => c.name === column) };
    const box = make("div", "o-live-beside", text);
    box.setAttribute("role", "alert");
    box.id = "live-beside";
    document.body.append(box);
    follow();
  }
  function follow() {
    const box = by("live-beside"), node = beneath && api.getRowNode(beneath.row);
    if (!box) return;
    const cell = node && root.querySelector('.ag-row[row-index="' + node.rowIndex + '"] .ag-cell[col-id="c' + beneath.place + '"]');
    const rect = cell && cell.getBoundingClientRect(), grid = root.querySelector(".ag-body-viewport").getBoundingClientRect();
    box.style.visibility = rect && rect.bottom > grid.top && rect.top < grid.bottom ? "visible" : "hidden";
    if (!rect) return;
    box.style.left = Math.max(8, Math.min(rect.left, innerWidth - box.offsetWidth - 8)) + "px";
    box.style.top = (rect.bottom + 4 + box.offsetHeight > innerHeight ? rect.top - box.offsetHeight - 4 : rect.bottom + 4) + "px";
  }
  const unbeside = () => { beneath = null; by("live-beside")?.remove(); };
  function listRefused() {
    const box = by("live-refused");
    if (!box) return;
    box.replaceChildren();
    if (!refused.size) return;
    box.append(make("h3", "", several(refused.size, "value") + " not taken"));
    const list = make("ul", "o-stack small");
    [...refused.values()].slice(0, 50).forEach((no) => {
      const item = make("li", "o-live-fault");
      const sign = make("span", "o-sign fatal", "×");
      const body = make("div", "wrap");
      body.append(make("b", "", no.row_id + " · " + no.column), make("div", "soft", shownValue(no.value) + ": " + no.reason));
      item.append(sign, body);
      list.append(item);
    });
    box.append(list);
    if (refused.size > 50) box.append(make("p", "soft small", "and " + (refused.size - 50) + " more"));
  }

  // ---- edits that wait for the server
  const store = () => "oreo-live-" + session + "-" + root.dataset.me;
  function keep() {
    pending = new Map();
    for (const entry of queue) for (const cell of entry.cells) pending.set(key(cell.row_id, cell.column), cell.value);
    try {
      if (queue.length) localStorage.setItem(store(), JSON.stringify(queue));
      else localStorage.removeItem(store());
    } catch { /* no room: then only as long as the page is open */ }
    standing();
  }
  function take(cells, pasted) {
    cells.forEach((cell) => refused.delete(key(cell.row_id, cell.column)));
    listRefused();
    queue.push({ id: newKey(), cells, pasted });
    keep();
    fresh([...new Set(cells.map((cell) => cell.row_id))]);
    pump();
  }
  async function pump() {
    if (busy || !queue.length) return;
    busy = true;
    clearTimeout(timer);
    const entry = queue[0];
    // One cell can be sent twice without harm: the same value is no further step. To keep a key takes time.
    const answer = await ask("/cells", { cells: entry.cells }, entry.cells.length > 1 ? entry.id : undefined);
    busy = false;
    if (answer.away) return waitForServer();
    away = false;
    queue.shift();
    keep();
    const rows = [...new Set(entry.cells.map((cell) => cell.row_id))];
    if (answer.error) {
      refuse(entry, answer.error);
    } else {
      apply(answer.document);
      if (entry.pasted) {
        const failed = answer.document.cells.filter((cell) => cell.validation.failed.length).length;
        told(failed ? "warn" : "good", several(entry.cells.length, "cell") + " pasted into " + several(rows.length, "row") + ", as one step.",
          failed ? several(failed, "value") + (failed === 1 ? " fails" : " fail") + " a check: they are coloured, and listed beside the grid." : "");
      }
      tellPage();
    }
    fresh(rows);
    pump();
  }
  function waitForServer() {
    away = true;
    standing();
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (queue.length) return pump();
      const answer = await ask("", undefined);
      if (answer.away) return waitForServer();
      away = false;
      standing();
    }, RETRY);
  }
  async function ask(path, body, once) {
    const options = { headers: { Accept: "application/json" }, credentials: "same-origin" };
    if (body !== undefined) {
      options.method = "POST";
      options.headers["Content-Type"] = "application/json";
      if (once) options.headers["Idempotency-Key"] = once;
      options.body = JSON.stringify(body);
    }
    let response;
    try {
      response = await fetch(path.startsWith("/p/") ? path : address + path, options);
    } catch {
      return { away: true };
    }
    let document_ = null;
    try { document_ = await response.json(); } catch { /* an answer that is none of ours */ }
    if (response.ok && document_) return { document: document_ };
    const error = (document_ && document_.error) || { message: "The server answered " + response.status + ".", remedy: "Try again." };
    if (response.status === 401) {
      location.assign("/sign-in?next=" + encodeURIComponent(location.pathname + location.search));
      return { away: true };
    }
    if (response.status === 503 || response.status === 502 || response.status === 504 || error.retryable) return { away: true };
    return { error };
  }
  function refuse(entry, error) {
    const cells = (error.details && error.details.cells) || [];
    const reasons = cells.length ? cells : entry.cells.length === 1 ? [{ ...entry.cells[0], reason: error.message }] : [];
    reasons.forEach((cell) => refused.set(key(cell.row_id, cell.column), cell));
    listRefused();
    if (entry.pasted) {
      const lines = reasons.map((cell) => cell.row_id + " · " + cell.column + ": " + shownValue(cell.value) + " " + cell.reason);
      told("bad", "Nothing was pasted: " + (reasons.length ? several(reasons.length, "value") + " of " + entry.cells.length + " cannot be taken." : error.message),
        reasons.length ? "Mend them in the spreadsheet and paste again." : helpful(error.remedy), lines);
    } else if (reasons.length) {
      const cell = reasons[0];
      fresh([cell.row_id]);
      setTimeout(() => beside(cell.row_id, cell.column, shownValue(cell.value) + " was not taken: " + cell.reason + ". The old value stands."), 0);
    }
    if (!cells.length) told("bad", error.message, helpful(error.remedy));
  }
  const helpful = (remedy) => (!remedy || remedy.includes("oreo ") ? "" : remedy);
  function apply(result) {
    can = { undo: result.can_undo, redo: result.can_redo };
    for (const cell of result.cells) {
      const node = api.getRowNode(cell.row_id);
      if (!node) continue;
      const row = node.data;
      row.cells[cell.column] = cell.new;
      row.failed[cell.column] = cell.validation.failed;
      if (row.change !== "inserted") {
        if (cell.new === cell.old) { delete row.old[cell.column]; delete row.failed[cell.column]; }
        else row.old[cell.column] = cell.old;
        row.change = Object.keys(row.old).length ? "updated" : "unchanged";
      }
    }
    standing();
  }
  let tellTimer = null;
  function tellPage() {
    clearTimeout(tellTimer);
    tellTimer = setTimeout(() => root.dispatchEvent(new CustomEvent("edited")), 250);
  }

  // ---- steps that are not cells
  async function step(path, body, done) {
    if (!mayEdit || queue.length || busy) return;
    busy = true;
    const answer = await ask(path, body, newKey());
    busy = false;
    if (answer.away) { told("bad", "The server is away: nothing was changed.", "Try again when it is back."); return waitForServer(); }
    if (answer.error) { told("bad", answer.error.message, helpful(answer.error.remedy)); pump(); return; }
    told();
    refused.clear();
    listRefused();
    can = { undo: answer.document.can_undo, redo: answer.document.can_redo };
    await renew(answer.document.row_ids);
    standing();
    if (done) done(answer.document);
    tellPage();
    pump();
  }
  const undo = () => can.undo && step("/undo", {}, (r) => told("info", "Undone: " + several(r.row_ids.length, "row") + " as before."));
  const redo = () => can.redo && step("/redo", {}, (r) => told("info", "Done again, in " + several(r.row_ids.length, "row") + "."));
  function remove() {
    let ids = api.getSelectedNodes().map((node) => node.data.id);
    if (!ids.length) {
      const cell = api.getFocusedCell();
      const node = cell && api.getDisplayedRowAtIndex(cell.rowIndex);
      if (node) ids = [node.data.id];
    }
    if (!ids.length) return told("info", "No row is chosen.", "Tick rows, or go into one.");
    step("/delete-rows", { row_ids: ids }, () => { api.deselectAll(); told("info", several(ids.length, "row") + " deleted.", "Undo takes them back."); });
  }
  async function renew(ids) {
    if (ids.length > NAMED) return reload();
    if (!ids.length) return;
    const answer = await ask(rowsAddress + "?limit=" + ids.length + ids.map((id) => "&row=" + encodeURIComponent(id)).join(""));
    if (!answer.document) return;
    const found = new Map(answer.document.rows.map((row) => [row.id, row])), change = { add: [], update: [], remove: [], addIndex: 0 };
    for (const id of ids) {
      const known = api.getRowNode(id), row = found.get(id);
      if (row && known) change.update.push(row);
      else if (row) change.add.push(row);
      else if (known) change.remove.push(known.data);
    }
    api.applyTransaction(change);
    fresh(ids);
    shown();
  }

  // ---- rows
  function query(limit, offset) {
    const parts = ["limit=" + limit, "offset=" + offset];
    asked.where.forEach((text) => parts.push("where=" + encodeURIComponent(text)));
    if (asked.changed) parts.push("changed=true");
    if (order) parts.push("order=" + encodeURIComponent(order));
    return rowsAddress + "?" + parts.join("&");
  }
  async function load(wanted, from) {
    loading = true;
    const answer = await ask(query(wanted, from));
    loading = false;
    if (answer.away) { waitForServer(); return null; }
    if (answer.error) { told("bad", answer.error.message, helpful(answer.error.remedy)); return null; }
    next = answer.document.next;
    return answer.document.rows;
  }
  async function reload() {
    const rows = await load(Math.min(MOST_ROWS, Math.max(PAGE, api.getDisplayedRowCount())), 0);
    if (rows) { api.setGridOption("rowData", rows); shown(); }
  }
  async function more(wanted) {
    if (next === null || loading) return;
    const rows = await load(Math.min(MOST_ROWS, wanted || PAGE), next);
    if (rows) { api.applyTransaction({ add: rows.filter((row) => !api.getRowNode(row.id)) }); shown(); }
  }
  function shown() {
    by("live-shown").textContent = several(api.getDisplayedRowCount(), "row") + " shown" + (next === null ? "" : ", and there are more");
    by("live-more").hidden = next === null;
  }
  function sorted() {
    const column = api.getColumnState().find((state) => state.sort);
    order = column ? (column.colId === "row" ? "row_id" : columnOf(column.colId).name) + "." + column.sort : "";
    reload();
  }
  function scrolled() {
    follow();
    const last = api.getLastDisplayedRowIndex();
    if (next !== null && last >= api.getDisplayedRowCount() - 20 && api.getDisplayedRowCount() < 2000) more();
  }

  // ---- typing and pasting
  const typed = (text) => (text === null || text === undefined || text === "" ? null : text === '""' ? "" : String(text));
  // A field of one line would drop the line breaks of a text.
  const editor = (p) => ({ component: /[\r\n]/.test(p.value ?? "") ? "agLargeTextCellEditor" : "agTextCellEditor",
    popup: /[\r\n]/.test(p.value ?? ""), params: { maxLength: 1000000, rows: 6, cols: 50 } });
  function edit(p) {
    unbeside();
    const name = columnOf(p.column.getColId()).name, given = typed(p.newValue);
    if (given === value(p) || p.newValue === p.oldValue) return;
    take([{ row_id: p.data.id, column: name, value: given }], false);
  }
  function parse(text) {
    // As spreadsheets copy: tabs and line breaks, and quotes around a cell that has one of them in it.
    const rows = [[]];
    let at = 0;
    while (at <= text.length) {
      let cell = "";
      if (text[at] === '"') {
        let end = at + 1;
        for (;;) {
          const quote = text.indexOf('"', end);
          if (quote < 0) { end = -1; break; }
          cell += text.slice(end, quote);
          end = quote + 1;
          if (text[end] !== '"') break;
          cell += '"';
          end++;
        }
        const after = end < 0 ? "x" : text[end];
        if (after === undefined || after === "\t" || after === "\n" || after === "\r") at = end;
        else cell = null; // the quote is a part of the text
      } else cell = null;
      if (cell === null) {
        const end = text.slice(at).search(/[\t\r\n]/);
        cell = end < 0 ? text.slice(at) : text.slice(at, at + end);
        at += cell.length;
      }
      rows[rows.length - 1].push(cell);
      if (at >= text.length) break;
      if (text[at] === "\t") { at++; continue; }
      if (text[at] === "\r" && text[at + 1] === "\n") at++;
      at++;
      if (at >= text.length) break;
      rows.push([]);
    }
    return rows;
  }
  async function paste(text) {
    const cell = api.getFocusedCell();
    if (!cell) return told("info", "No cell is chosen.", "Go into the cell that is to take the first value.");
    const block = parse(text), wide = Math.max(...block.map((row) => row.length));
    const first = Number(cell.column.getColId().slice(1));
    if (cell.column.getColId() === "row" || Number.isNaN(first)) return told("info", "row_id cannot be changed.", "Go into a cell of another column.");
    if (first + wide > columns.length) {
      return told("bad", "Nothing was pasted: it is " + several(wide, "column") + " wide, and there are only " + (columns.length - first) + " from here on.", "Go into a cell further left.");
    }
    const wanted = cell.rowIndex + block.length;
    while (api.getDisplayedRowCount() < wanted && next !== null) {
      const before = api.getDisplayedRowCount();
      await more(wanted - before);
      if (api.getDisplayedRowCount() === before) break;
    }
    if (api.getDisplayedRowCount() < wanted) {
      return told("bad", "Nothing was pasted: it has " + several(block.length, "row") + ", and there are only " + (api.getDisplayedRowCount() - cell.rowIndex) + " from here down.", "Paste new rows with “Add rows”.");
    }
    const cells = [];
    for (let i = 0; i < block.length; i++) {
      const row = api.getDisplayedRowAtIndex(cell.rowIndex + i).data;
      for (let j = 0; j < block[i].length; j++) {
        const name = columns[first + j].name, given = typed(block[i][j]);
        const waiting = pending.get(key(row.id, name));
        if ((waiting === undefined ? row.cells[name] : waiting) === given) continue;
        if (row.change === "deleted") return told("bad", "Nothing was pasted: row " + row.id + " is deleted in this session.", "Undo the deletion first.");
        cells.push({ row_id: row.id, column: name, value: given });
      }
    }
    if (!cells.length) return told("info", "Nothing to change: these values are there already.");
    told("info", "Pasting " + several(cells.length, "cell") + " …");
    take(cells, true);
  }

  function listen() {
    const inGrid = (target) => target instanceof Element && root.contains(target) && target.closest(".ag-root");
    const types = (target) => target instanceof Element && target.closest("input, textarea, [contenteditable=true]");
    document.addEventListener("paste", (event) => {
      if (!mayEdit || !inGrid(document.activeElement)) return;
      const text = event.clipboardData.getData("text/plain");
      const block = /[\t\n]/.test(text.replace(/\r?\n$/, ""));
      if (types(document.activeElement) && !block) return;
      event.preventDefault();
      if (types(document.activeElement)) api.stopEditing(true);
      if (text) paste(text);
    });
    document.addEventListener("copy", (event) => {
      if (!inGrid(document.activeElement) || types(document.activeElement) || String(getSelection())) return;
      const cell = api.getFocusedCell();
      if (!cell) return;
      const data = api.getDisplayedRowAtIndex(cell.rowIndex).data;
      const text = cell.column.getColId() === "row" ? data.id : value({ data, column: cell.column });
      event.clipboardData.setData("text/plain", text ?? "");
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") unbeside();
      if (!(event.ctrlKey || event.metaKey) || types(event.target)) return;
      const letter = event.key.toLowerCase();
      if (letter === "z" && !event.shiftKey) { event.preventDefault(); undo(); }
      else if ((letter === "z" && event.shiftKey) || letter === "y") { event.preventDefault(); redo(); }
    });
    addEventListener("scroll", follow, true);
    addEventListener("resize", follow);
    document.addEventListener("pointerdown", unbeside);
    addEventListener("online", () => pump());
    document.addEventListener("click", (event) => {
      const button = event.target instanceof Element && event.target.closest("button");
      if (!button) return;
      if (button.id === "live-undo") undo();
      else if (button.id === "live-redo") redo();
      else if (button.id === "live-delete") remove();
      else if (button.id === "live-more") more();
    });
    const socket = () => window.socket && window.socket.on("disconnect", () => { away = true; waitForServer(); });
    socket();
    new MutationObserver(() => {
      const text = root.getAttribute("data-asked");
      if (!text) return;
      asked = JSON.parse(text);
      reload();
    }).observe(root, { attributes: true, attributeFilter: ["data-asked"] });
  }

  async function renewAll() {
    await reload();
    const answer = await ask("");
    if (answer.document) can = { undo: answer.document.can_undo, redo: answer.document.can_redo };
    standing();
  }

  async function begin(grid) {
    api = grid;
    root = by("live");
    address = root.dataset.api;
    rowsAddress = root.dataset.rows;
    session = root.dataset.session;
    columns = JSON.parse(root.dataset.columns);
    mayEdit = root.dataset.edit === "yes";
    try { queue = mayEdit ? JSON.parse(localStorage.getItem(store()) || "[]") : []; } catch { queue = []; }
    keep();
    listen();
    await renewAll();
    pump();
  }

  return {
    begin, value, classes, rowClasses, words, rowCell, rowWords, editable, editor, edit, sorted, scrolled, renew: renewAll,
    unsent: () => queue.reduce((n, entry) => n + entry.cells.length, 0),
    forget: () => { queue = []; keep(); },
  };
})();
