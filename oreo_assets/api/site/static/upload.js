// Sends the chosen file to the server as it is, tells how far it is, and tells the page when it has arrived.
(() => {
  const by = (id) => document.getElementById(id);
  let sending = null;

  function state(kind, words, share) {
    const box = by("upload-state");
    box.replaceChildren();
    box.className = "o-drop-state small " + kind;
    if (kind === "bad") box.setAttribute("role", "alert"); else box.removeAttribute("role");
    const text = document.createElement("span");
    text.className = "wrap";
    text.textContent = words;
    box.append(text);
    if (share !== undefined) {
      const bar = document.createElement("progress");
      bar.max = 1;
      bar.value = share;
      bar.setAttribute("aria-label", "Sent so far");
      const stop = document.createElement("button");
      stop.type = "button";
      stop.className = "o-button small";
      stop.textContent = "Stop";
      stop.onclick = () => sending && sending.abort();
      box.append(bar, stop);
    }
  }
  const megabytes = (bytes) => (bytes < 1e5 ? (bytes / 1e3).toFixed(1) + " kB" : (bytes / 1e6).toFixed(1) + " MB");

  function send(file) {
    const root = by("upload");
    if (sending) sending.abort();
    if (file.size > Number(root.dataset.limit)) {
      return state("bad", file.name + " has " + megabytes(file.size) + "; this dataset takes up to " + megabytes(Number(root.dataset.limit)) + ". Split the file.");
    }
    if (!file.size) return state("bad", file.name + " is empty. Choose a file with a header and rows.");
    const form = new FormData();
    form.append("file", file, file.name);
    const request = sending = new XMLHttpRequest();
    request.open("POST", root.dataset.to);
    request.upload.onprogress = (event) => state("busy", "Sending " + file.name + ": " + megabytes(event.loaded) + " of " + megabytes(event.total), event.loaded / event.total);
    request.onload = () => {
      sending = null;
      let answer = null;
      try { answer = JSON.parse(request.responseText); } catch { /* none of ours */ }
      if (request.status === 201 && answer) {
        state("good", file.name + ", " + megabytes(file.size));
        root.dispatchEvent(new CustomEvent("received", { detail: { draft: answer.draft } }));
      } else if (request.status === 401) {
        location.assign("/sign-in?next=" + encodeURIComponent(location.pathname));
      } else {
        const error = (answer && answer.error) || { message: "The server answered " + request.status + ".", remedy: "Try again." };
        state("bad", error.message + " " + (error.remedy || ""));
      }
    };
    request.onerror = () => { sending = null; state("bad", "The connection broke, and nothing was kept. Choose the file again."); };
    request.onabort = () => { if (sending === request) sending = null; state("", "Stopped. Nothing was kept."); };
    state("busy", "Sending " + file.name + " …", 0);
    request.send(form);
  }

  document.addEventListener("change", (event) => {
    if (event.target.id !== "upload-file" || !event.target.files.length) return;
    send(event.target.files[0]);
    event.target.value = "";  // the same file, mended, can be chosen again
  });
  const zone = (event) => event.target instanceof Element && event.target.closest("#upload");
  document.addEventListener("dragover", (event) => {
    if (!by("upload")) return;
    event.preventDefault();
    by("upload").classList.toggle("over", Boolean(zone(event)));
  });
  document.addEventListener("dragleave", () => by("upload")?.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    if (!by("upload")) return;
    event.preventDefault();  // a file dropped beside must not replace the page
    by("upload").classList.remove("over");
    if (!zone(event)) return;
    const files = event.dataTransfer.files;
    if (files.length > 1) return state("bad", "One file at a time, please.");
    if (files.length) send(files[0]);
  });
})();
