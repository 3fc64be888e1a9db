"use strict";
// Follows a job: progress, and the report as it grows.
(() => {
  const job = document.getElementById("job"), at = "/api/jobs/" + job.dataset.id;
  const [working, bar, told, message, downloads, live, cancel] =
    ["working", "bar", "told", "message", "downloads", "live", "cancel"].map(id => document.getElementById(id));
  let version = 0;

  const words = now => {
    if (now.state === "queued") return "Waiting for its turn";
    if (!now.positions) return "Starting the engine …";
    const left = now.time_left ? `, about ${now.time_left} left` : "";
    return `${now.positions_done.toLocaleString("en")} of ${now.positions.toLocaleString("en")} positions, ${now.games_done} of ${now.games} games${left}`;
  };

  async function grow() {
    const answer = await fetch(`/jobs/${job.dataset.id}/report`);
    if (!answer.ok) return;
    // Only the report itself: its style and script are this page's own already.
    const text = await answer.text(), start = text.indexOf("<main"), end = text.indexOf("</main>") + 7;
    const page = new DOMParser().parseFromString(text.slice(start, end), "text/html");
    const report = document.adoptNode(page.querySelector("main"));
    const opened = [...live.querySelectorAll("details[open]")].map(element => element.id);
    const focused = document.activeElement && document.activeElement.closest("details") && document.activeElement.className;
    const inside = focused && document.activeElement.closest("details").id;
    live.replaceChildren(report);
    opened.forEach(id => { const element = document.getElementById(id); if (element) element.open = true; });
    report.dispatchEvent(new CustomEvent("assay:grown", { bubbles: true }));
    const again = inside && document.getElementById(inside) && document.getElementById(inside).getElementsByClassName(focused)[0];
    if (again) again.focus({ preventScroll: true });
  }

  async function look() {
    let now;
    try {
      const answer = await fetch(at);
      now = await answer.json();
      if (!answer.ok) { message.textContent = now.error; message.hidden = false; working.hidden = true; return; }
    } catch {
      told.textContent = "The server does not answer; this page waits for it.";
      setTimeout(look, 2000);
      return;
    }
    const waits = now.state === "queued" || now.state === "running";
    working.hidden = !waits;
    told.textContent = words(now);
    if (now.positions) bar.value = now.positions_done / now.positions; else bar.removeAttribute("value");
    message.textContent = now.message;
    message.hidden = !now.message;
    downloads.hidden = !now.formats.length;
    if (now.version !== version && now.formats.includes("html")) { version = now.version; await grow(); }
    job.dataset.state = now.state;
    if (waits) setTimeout(look, document.hidden ? 4000 : 1000);
  }

  cancel.addEventListener("click", async () => {
    cancel.disabled = true;
    try { await fetch(at + "/cancel", { method: "POST" }); } finally { cancel.disabled = false; }
    look();
  });
  look();
})();
