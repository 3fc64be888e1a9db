"use strict";
// Follows a job: progress, and the report as it grows. A request that fails costs a moment: the next one is made all the same.
(() => {
  const job = document.getElementById("job"), at = "/api/jobs/" + job.dataset.id;
  const [working, bar, told, message, downloads, live, cancel, resume] =
    ["working", "bar", "told", "message", "downloads", "live", "cancel", "resume"].map(id => document.getElementById(id));
  const GONE = "The server does not answer; this page waits for it.";
  let version = 0, next = 0, looking = false;

  // A server that is stopped, or a line that is cut, may never say so.
  const ask = (address, seconds, how) => fetch(address, { ...how, signal: AbortSignal.timeout(seconds * 1000) });

  const words = now => {
    if (now.state === "queued") return "Waiting for its turn";
    if (!now.positions) return "Starting the engine …";
    const left = now.time_left ? `, about ${now.time_left} left` : "";
    return `${now.positions_done.toLocaleString("en")} of ${now.positions.toLocaleString("en")} positions, ${now.games_done} of ${now.games} games${left}`;
  };

  async function grow() {
    const answer = await ask(`/jobs/${job.dataset.id}/report`, 120);
    if (!answer.ok) throw new Error(answer.status);
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

  // How the job stands now; null when that is the last word on it.
  async function status() {
    const answer = await ask(at, 30);
    if (answer.status >= 500) throw new Error(answer.status);
    const now = await answer.json();
    if (answer.ok) return now;
    message.textContent = now.error; message.hidden = false; working.hidden = true;
    return null;
  }

  async function look() {
    if (looking) return;
    clearTimeout(next);
    looking = true;
    try {
      const now = await status();
      if (!now) return;
      const waits = now.state === "queued" || now.state === "running";
      if (now.version !== version && now.formats.includes("html")) { await grow(); version = now.version; }
      working.hidden = !waits;
      told.textContent = words(now);
      if (now.positions) bar.value = now.positions_done / now.positions; else bar.removeAttribute("value");
      message.textContent = now.message;
      message.hidden = !now.message;
      downloads.hidden = !now.formats.length;
      job.dataset.state = now.state;
      resume.hidden = now.state !== "cancelled" && now.state !== "failed";
      if (waits) next = setTimeout(look, document.hidden ? 4000 : 1000);
    } catch {
      // Shown even when the bar was gone: the report is not all there yet.
      working.hidden = false;
      told.textContent = GONE;
      next = setTimeout(look, 2000);
    } finally {
      looking = false;
    }
  }

  cancel.addEventListener("click", async () => {
    cancel.disabled = true;
    try { await ask(at + "/cancel", 30, { method: "POST" }); } catch { told.textContent = GONE; }
    cancel.disabled = false;
    look();
  });
  resume.addEventListener("click", async () => {
    resume.disabled = true;
    try { await ask(at + "/resume", 30, { method: "POST" }); } catch { told.textContent = GONE; }
    resume.disabled = false;
    look();
  });
  look();
})();
