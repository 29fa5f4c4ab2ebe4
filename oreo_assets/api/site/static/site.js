// What happens in the browser alone: times in the reader's zone, light and dark, and cells as text.
window.oreo = (() => {
  const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

  function words(date) {
    const seconds = (date - Date.now()) / 1000;
    const size = Math.abs(seconds);
    if (size < 45) return "just now";
    if (size < 3600) return relative.format(Math.round(seconds / 60), "minute");
    if (size < 86400) return relative.format(Math.round(seconds / 3600), "hour");
    if (size < 7 * 86400) return relative.format(Math.round(seconds / 86400), "day");
    return absolute.format(date);
  }

  function tell(element) {
    const date = new Date(element.getAttribute("datetime"));
    if (isNaN(date)) return;
    const text = element.hasAttribute("data-absolute") ? absolute.format(date) : words(date);
    if (element.textContent !== text) element.textContent = text;
    element.title = exact.format(date);
  }

  const tellAll = (root) => root.querySelectorAll && root.querySelectorAll("time[datetime]").forEach(tell);

  // Quasar knows only its own dark mode; the choice is kept here, for this browser.
  function theme(choice) {
    const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.classList.toggle("dark", dark);
    document.documentElement.classList.toggle("light", !dark);
    if (typeof setDark === "function" && window.Quasar) setDark(dark);
    return dark;
  }
  const chosen = () => { try { return localStorage.getItem("oreo-theme"); } catch { return null; } };
  function toggleTheme() {
    const next = document.documentElement.classList.contains("dark") ? "light" : "dark";
    try { localStorage.setItem("oreo-theme", next); } catch { /* then for this page only */ }
    theme(next);
  }

  // A socket that is refused because nobody is signed in any more would be tried for ever.
  function watchTheSocket() {
    if (!document.getElementById("nicegui-keep-alive-cache")) return;
    if (!window.socket) return setTimeout(watchTheSocket, 200);
    window.socket.on("connect_error", async () => {
      const answer = await fetch("/visit", { cache: "no-store" }).catch(() => null);
      if (answer?.status === 204) {
        location.assign("/sign-in?next=" + encodeURIComponent(location.pathname + location.search));
      }
    });
  }

  document.documentElement.lang ||= "en";
  theme(chosen());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme(chosen()));
  document.addEventListener("DOMContentLoaded", () => {
    theme(chosen());
    tellAll(document);
    new MutationObserver((changes) => {
      for (const change of changes) {
        if (change.type === "attributes") tell(change.target);
        change.addedNodes.forEach((node) => {
          if (node.matches && node.matches("time[datetime]")) tell(node);
          tellAll(node);
        });
      }
    }).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ["datetime"] });
    setInterval(() => tellAll(document), 30000);
    watchTheSocket();
  });

  // Cells are data. Every one is set as text; a string that a renderer returned would be taken for HTML.
  function piece(tag, value) {
    const element = document.createElement(tag);
    if (value === null || value === undefined) {
      element.textContent = "null";
      element.classList.add("o-null");
    } else {
      element.textContent = value === "" ? "“”" : value;
    }
    return element;
  }
  function cell(params) {
    return piece("span", params.value);
  }
  // Digits in threes by a margin, not by a character: what is copied is the number.
  function numberCell(params) {
    const match = /^(-?)(\d{5,})(\.\d+)?$/.exec(params.value ?? "");
    if (!match) return piece("span", params.value);
    const [, minus, whole, rest] = match;
    const box = document.createElement("span");
    const first = whole.length % 3 || 3;
    box.append(minus + whole.slice(0, first));
    for (let at = first; at < whole.length; at += 3) {
      const three = piece("span", whole.slice(at, at + 3));
      three.className = "o-digits";
      box.append(three);
    }
    box.append(rest || "");
    return box;
  }
  function changedCell(params) {
    const value = params.value;
    const box = document.createElement("span");
    if (!value) return box;
    box.className = value.conflict ? "o-cell conflict" : "o-cell";
    if (!("old" in value) && !("new" in value)) return piece("span", value.same);
    if ("old" in value) box.append(piece("del", value.old));
    if ("new" in value) box.append(piece("ins", value.new));
    return box;
  }
  function changedText(params) {
    const value = params.value;
    if (!value) return "";
    if ("same" in value) return String(value.same ?? "");
    return [value.old, value.new].map((v) => (v === null || v === undefined ? "null" : v)).join(" → ");
  }
  const SIGNS = { inserted: "+", updated: "Δ", deleted: "−", unchanged: "=" };
  function kindCell(params) {
    const box = document.createElement("span");
    const sign = document.createElement("span");
    box.className = "o-cell";
    sign.className = "o-sign " + (params.value in SIGNS ? params.value : "unchanged");
    sign.textContent = SIGNS[params.value] || "?";
    sign.setAttribute("aria-hidden", "true");
    box.append(sign, document.createTextNode(params.value || ""));
    return box;
  }
  return { toggleTheme, cell, numberCell, changedCell, changedText, kindCell };
})();
