"use strict";
// Dropping and sending files; without this script the form works as a plain form.
(() => {
  const form = document.getElementById("submit"), drop = document.getElementById("drop"), file = document.getElementById("file");
  const text = document.getElementById("pgn"), chosen = document.getElementById("chosen");
  const error = document.getElementById("error"), sending = document.getElementById("sending"), usual = chosen.textContent;

  const player = document.getElementById("player"), names = document.getElementById("names"), guess = document.getElementById("guess");
  let guessed = "";

  const about = seconds => {
    if (seconds < 55) return `${Math.max(5 * Math.round(seconds / 5), 5)} seconds`;
    const minutes = Math.max(Math.round(seconds / 60), 1);
    return seconds < 5400 ? `${minutes} minute${minutes > 1 ? "s" : ""}` : `${Math.round(seconds / 1800) / 2} hours`;
  };
  const times = [...document.querySelectorAll(".time")], usually = times.map(element => element.textContent);
  const foretell = games => times.forEach((element, at) => {
    element.textContent = games ? `about ${about(games * element.dataset.each)} for ${games === 1 ? "this game" : `these ${games.toLocaleString("en")} games`}` : usually[at];
  });

  // The names in the games, those first who play most; one who plays in nearly all of them is taken for the reader.
  const find = text => {
    const counts = new Map();
    let games = 0;
    for (const [, side, name] of text.matchAll(/^[ \t]*\[(White|Black)[ \t]+"((?:[^"\\]|\\.)*)"/gm)) {
      const plain = name.replace(/\\(.)/g, "$1").trim();
      if (side === "White") games++;
      if (/[^? ]/.test(plain)) counts.set(plain, (counts.get(plain) || 0) + 1);
    }
    const often = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
    names.replaceChildren(...often.slice(0, 500).map(([name, count]) => {
      const option = document.createElement("option");
      option.value = name;
      option.label = `${name}, ${count} of ${games} games`;
      return option;
    }));
    foretell(games);
    const [first, second] = often, sure = games >= 6 && first && first[1] >= 0.9 * games && (!second || second[1] < games / 2);
    if (player.value === guessed) player.value = guessed = sure ? first[0] : "";
    guess.textContent = !often.length ? ""
      : player.value && player.value === guessed ? `Plays in ${first[1]} of ${games} games; empty the field for a report on everybody.`
      : `${often.length.toLocaleString("en")} name${often.length === 1 ? "" : "s"} found in ${games.toLocaleString("en")} game${games === 1 ? "" : "s"}.`;
  };

  const show = async () => {
    chosen.textContent = file.files.length ? file.files[0].name : usual;
    find(file.files.length ? await file.files[0].text() : text.value);
  };
  text.addEventListener("change", () => { if (!file.files.length) find(text.value); });
  file.addEventListener("change", show);
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, event => { event.preventDefault(); drop.classList.add("over"); });
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", event => {
    event.preventDefault();
    if (event.dataTransfer.files.length) { file.files = event.dataTransfer.files; show(); }
    else if (document.getElementById("source") && /^https?:\/\/\S+$/.test(event.dataTransfer.getData("text").trim()))
      document.getElementById("source").value = event.dataTransfer.getData("text").trim();
    else { text.value = event.dataTransfer.getData("text"); find(text.value); }
  });

  const complain = sentence => { error.textContent = sentence; error.hidden = false; sending.textContent = ""; };
  form.addEventListener("submit", async event => {
    event.preventDefault();
    error.hidden = true;
    const source = document.getElementById("source");
    sending.textContent = source && source.value.trim() && !file.files.length && !text.value.trim() ? "Fetching games …" : "Sending …";
    try {
      const body = new FormData(form);
      // Of games that are fetched, or that have not been looked at, the server sees whose they are.
      if (!player.value.trim() && !names.children.length) body.delete("player");
      const answer = await fetch("/api/jobs", { method: "POST", body });
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
