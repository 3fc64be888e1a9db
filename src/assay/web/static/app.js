"use strict";
// Dropping and sending files; without this script the form works as a plain form.
(() => {
  const form = document.getElementById("submit"), drop = document.getElementById("drop"), file = document.getElementById("file");
  const text = document.getElementById("pgn"), chosen = document.getElementById("chosen");
  const error = document.getElementById("error"), sending = document.getElementById("sending"), usual = chosen.textContent;

  const show = () => { chosen.textContent = file.files.length ? file.files[0].name : usual; };
  file.addEventListener("change", show);
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", event => {
    event.preventDefault();
    if (event.dataTransfer.files.length) { file.files = event.dataTransfer.files; show(); }
    else if (document.getElementById("source") && /^https?:\/\/\S+$/.test(event.dataTransfer.getData("text").trim()))
      document.getElementById("source").value = event.dataTransfer.getData("text").trim();
    else text.value = event.dataTransfer.getData("text");
  });

  const complain = sentence => { error.textContent = sentence; error.hidden = false; sending.textContent = ""; };
  form.addEventListener("submit", async event => {
    event.preventDefault();
    error.hidden = true;
    const source = document.getElementById("source");
    sending.textContent = source && source.value.trim() && !file.files.length && !text.value.trim() ? "Fetching games …" : "Sending …";
    try {
      const answer = await fetch("/api/jobs", { method: "POST", body: new FormData(form) });
      const told = await answer.json();
      if (answer.ok) location.href = "/jobs/" + told.id;
      else complain(told.error);
    } catch {
      complain("The server does not answer, or it broke the upload off because it is too large.");
    }
  });

  document.querySelectorAll("button.remove").forEach(button => {
    button.hidden = false;
    button.addEventListener("click", async () => {
      if (!confirm("Remove this report and its games?")) return;
      try {
        const answer = await fetch("/api/jobs/" + button.dataset.id, { method: "DELETE" });
        if (answer.ok || answer.status === 404) button.closest("tr").remove();
        else complain((await answer.json()).error);
      } catch {
        complain("The server does not answer; the report was not removed.");
      }
    });
  });
})();
