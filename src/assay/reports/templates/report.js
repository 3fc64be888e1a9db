"use strict";
// The page without this script is whole and readable; this sorts the tables and steps through the games.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

  const make = (name, attributes, text) => {
    const drawn = ["svg", "rect", "use", "text", "polygon", "circle"].includes(name);
    const element = drawn ? document.createElementNS(SVG, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const kept = {};  // what the reader chose: stays when the page grows

  // Sorting.

  function sortable(table) {
    const heads = [...table.querySelectorAll("thead th[aria-sort]")];
    const sort = (head, down) => {
      const column = [...head.parentNode.children].indexOf(head), numeric = head.classList.contains("num");
      heads.forEach(other => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => row.children[column].dataset.v;
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === "" || y === "") return (x === "") - (y === "");  // what is not known comes last, either way
        const order = numeric ? x - y : x.localeCompare(y);
        return down ? -order : order;
      });
      table.tBodies[0].append(...rows);
    };
    heads.forEach((head, at) => {
      const button = make("button", { type: "button", class: "sort" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const down = now === "none" ? head.classList.contains("num") : now === "ascending";
        kept.sort = [at, down];
        sort(head, down);
      });
    });
    if (kept.sort) sort(heads[kept.sort[0]], kept.sort[1]);
  }

  // The board.

  function squares(fen) {
    const board = {};
    fen.split(" ")[0].split("/").forEach((rank, row) => {
      let file = 0;
      for (const letter of rank) {
        if (letter >= "1" && letter <= "8") { file += +letter; continue; }
        board["abcdefgh"[file++] + (8 - row)] = (letter < "a" ? "w" : "b") + letter.toUpperCase();
      }
    });
    return board;
  }

  function after(board, uci) {
    const next = { ...board }, from = uci.slice(0, 2), to = uci.slice(2, 4), piece = board[from];
    if (!piece) return next;
    delete next[from];
    if (piece[1] === "P" && from[0] !== to[0] && !board[to]) delete next[to[0] + from[1]];  // en passant
    next[to] = uci[4] ? piece[0] + uci[4].toUpperCase() : piece;
    if (piece[1] === "K" && from[0] === "e" && (to[0] === "g" || to[0] === "c")) {
      const rook = to[0] === "g" ? ["h", "f"] : ["a", "d"];
      next[rook[1] + from[1]] = next[rook[0] + from[1]];
      delete next[rook[0] + from[1]];
    }
    return next;
  }

  // An arrow from the middle of a square to that of another.
  function arrow(from, to, turned) {
    const middle = square => {
      const file = square.charCodeAt(0) - 97, rank = +square[1];
      return [45 * (turned ? 7 - file : file) + 22.5, 45 * (turned ? rank - 1 : 8 - rank) + 22.5];
    };
    const [[x0, y0], [x1, y1]] = [middle(from), middle(to)], length = Math.hypot(x1 - x0, y1 - y0);
    const [ax, ay] = [(x1 - x0) / length, (y1 - y0) / length];
    const at = (along, aside) => `${(x0 + ax * along - ay * aside).toFixed(1)},${(y0 + ay * along + ax * aside).toFixed(1)}`;
    const neck = length - 16;
    return make("polygon", { class: "arrow", points: [at(8, 3), at(neck, 3), at(neck, 9), at(length, 0), at(neck, -9), at(neck, -3), at(8, -3)].join(" ") });
  }

  // The squares of a move in SAN, found among the pieces that could make it; only for what is drawn.
  function squaresOf(san, board, white) {
    const plain = san.replace(/[+#?!]/g, ""), side = white ? "w" : "b", home = white ? "1" : "8";
    if (plain.startsWith("O-O")) return ["e" + home, (plain === "O-O" ? "g" : "c") + home];
    const found = plain.match(/^([NBRQK]?)([a-h]?)([1-8]?)x?([a-h][1-8])(?:=[NBRQ])?$/);
    if (!found) return null;
    const [, letter, file, rank, to] = found, piece = side + (letter || "P");
    const mine = Object.keys(board).filter(from => board[from] === piece && (!file || from[0] === file) && (!rank || from[1] === rank) && reaches(from, to, letter || "P", board, white));
    return mine.length ? [mine[0], to] : null;
  }

  function reaches(from, to, letter, board, white) {
    const dx = to.charCodeAt(0) - from.charCodeAt(0), dy = to[1] - from[1], [ax, ay] = [Math.abs(dx), Math.abs(dy)];
    if (letter === "N") return ax * ay === 2;
    if (letter === "K") return Math.max(ax, ay) === 1;
    if (letter === "P") {
      const step = white ? 1 : -1;
      if (dx) return ax === 1 && dy === step;
      return dy === step || (dy === 2 * step && !board[from[0] + (+from[1] + step)]);
    }
    if ((letter === "B" && ax !== ay) || (letter === "R" && ax && ay) || (ax !== ay && ax && ay)) return false;
    for (let i = 1; i < Math.max(ax, ay); i++) {
      if (board[String.fromCharCode(from.charCodeAt(0) + Math.sign(dx) * i) + (+from[1] + Math.sign(dy) * i)]) return false;
    }
    return true;
  }

  function draw(place, board, last, turned, mark, better) {
    const svg = make("svg", { viewBox: "0 0 360 360", "aria-hidden": "true" });
    for (let row = 0; row < 8; row++) for (let column = 0; column < 8; column++) {
      const file = "abcdefgh"[turned ? 7 - column : column], rank = turned ? row + 1 : 8 - row;
      const at = { x: 45 * column, y: 45 * row, width: 45, height: 45 };
      svg.append(make("rect", { ...at, class: (row + column) % 2 ? "dark" : "light" }));
      if (last && [last.slice(0, 2), last.slice(2, 4)].includes(file + rank)) svg.append(make("rect", { ...at, class: "last" }));
      if (column === 0) svg.append(make("text", { x: 2, y: at.y + 10 }, rank));
      if (row === 7) svg.append(make("text", { x: at.x + 38, y: 357 }, file));
      const piece = board[file + rank];
      if (piece) svg.append(make("use", { ...at, href: "#" + piece }));
    }
    if (better) svg.append(arrow(better[0], better[1], turned));
    if (mark && last) {
      const file = last.charCodeAt(2) - 97, rank = +last[3];
      const x = 45 * (turned ? 7 - file : file) + 38, y = 45 * (turned ? rank - 1 : 8 - rank) + 7;
      svg.append(make("circle", { cx: Math.min(x, 350), cy: Math.max(y, 10), r: 9, class: "verdict" }));
      svg.append(make("text", { x: Math.min(x, 350), y: Math.max(y, 10) + 4, "text-anchor": "middle", class: "verdict-text" }, mark));
    }
    place.replaceChildren(svg);
  }

  // One game.

  const value = v => v === null ? "" : typeof v === "string" ? v : (v < 0 ? "−" : "+") + (Math.abs(v) / 100).toFixed(2);
  const said = v => typeof v !== "string" ? `evaluation ${value(v)}` : /\D0$/.test(v) ? "mate" : `${v[1] === "-" ? "Black" : "White"} mates in ${v.replace(/\D/g, "")}`;
  const WIDEST = 2000;  // Elo; what is no narrower says nothing
  const percent = p => p === null ? "" : p < 10 ? "<0.1 %" : (p / 100).toFixed(p < 1000 ? 1 : 0) + " %";

  function game(element, atEnd) {
    const source = element.querySelector("script");
    if (!source || element.dataset.ready) return;
    element.dataset.ready = "yes";
    const data = JSON.parse(source.textContent);
    const uci = data.m ? data.m.split(" ") : [], san = data.s ? data.s.split(" ") : [];
    const start = data.f || START, first = data.p || 0;
    const boards = [squares(start)];
    uci.forEach((move, at) => boards.push(after(boards[at], move)));
    const own = kept[element.id] ||= { ply: atEnd ? uci.length : 0, turned: false };
    const [place, list, spread] = [".board", ".moves", ".spread"].map(name => element.querySelector(name));
    const number = at => Math.floor((at + first) / 2) + 1;
    const side = at => (at + first) % 2;

    const buttons = san.map((move, at) => {
      const button = make("button", { type: "button", tabindex: "-1" }, move);
      const mark = data.k && data.k[at];
      if (mark) button.append(make("span", { class: "bad" }, mark));
      if (data.why[data.w[at]]) button.className = "out";
      button.addEventListener("click", () => go(at + 1));
      return button;
    });
    const shown = make("p");
    buttons.forEach((button, at) => {
      // A number stays with its move when the line breaks.
      const turn = make("span", { class: "turn" });
      if (side(at) === 0 || at === 0) turn.append(make("span", { class: "no" }, number(at) + (side(at) ? "…" : ".")));
      turn.append(button);
      shown.append(turn, " ");
    });
    list.replaceChildren(shown);

    function tell(at) {
      if (at < 0) {
        spread.replaceChildren(make("p", { class: "muted" }, "The start. Step through the moves with the arrow keys, the buttons, or by clicking a move or a plot."));
        return;
      }
      const who = data.n[side(at)], rating = data.r[side(at)];
      const head = make("p");
      const mark = data.k ? data.k[at] : "", verdict = { "?!": "an inaccuracy", "?": "a mistake", "??": "a blunder" }[mark];
      head.append(make("b", {}, `${number(at)}${side(at) ? "…" : "."} ${san[at]}${mark}`), ` by ${who}`);
      const why = data.why[data.w[at]], flat = data.c && data.c[at];
      if (verdict) head.append(`, ${verdict}${better(at) ? `; better is ${data.b[at]}${flat && flat[0] !== data.b[at] ? ", as a deeper look shows" : ""}` : ""}`);
      if (data.e[at] !== null) head.append(`, ${said(data.e[at])}`);
      if (data.q[at] && data.q[at][2] - data.q[at][1] < WIDEST) head.append(`; rating seen so far ${data.q[at][0]} (${data.q[at][1]}–${data.q[at][2]})`);
      const parts = [head];
      if (why) parts.push(make("p", { class: "muted" }, `Does not count for the rating: ${why}.`));
      if (flat) parts.push(table(flat, san[at], rating));
      spread.replaceChildren(...parts);
    }

    function table(flat, played, rating) {
      const whole = make("table"), body = make("tbody"), head = make("thead"), titles = make("tr");
      whole.append(make("caption", {}, rating ? `Chances for a player rated ${rating}` : "Candidates"));
      for (const [text, css] of [["Move", ""], ["Value", "num"], ["Chance", "num"], ["", "bar"]]) titles.append(text ? make("th", { scope: "col", class: css }, text) : make("td", { class: css }));
      head.append(titles);
      const line = (move, worth, chance, css) => {
        const row = make("tr", { class: css }), bar = make("td", { class: "bar" });
        const svg = make("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
        svg.append(make("rect", { x: 0, y: 0, width: chance / 100, height: 10 }));
        bar.append(svg);
        row.append(make("th", { scope: "row" }, move), make("td", { class: "num", "data-why": "value" }, worth), make("td", { class: "num", "data-why": "chance" }, percent(chance)), bar);
        body.append(row);
      };
      const end = flat.length - 2;
      for (let i = 0; i < end; i += 3) {
        const own = flat[i] === played;
        line(flat[i] + (own ? " (played)" : ""), value(flat[i + 1]), flat[i + 2], own ? "played" : "");
      }
      if (flat[end]) line(`${flat[end]} more`, "", flat[end + 1], "");
      whole.append(head, body);
      return whole;
    }

    // Where a move is marked, what was better: from and to.
    function better(at) {
      return data.b && data.b[at] ? squaresOf(data.b[at], boards[at], side(at) === 0) : null;
    }

    function go(ply) {
      own.ply = Math.max(0, Math.min(uci.length, ply));
      const at = own.ply - 1;
      draw(place, boards[own.ply], uci[at], own.turned, data.k && data.k[at], better(at));
      place.setAttribute("aria-label", (at < 0 ? "Board, start position." : `Board after ${number(at)}${side(at) ? "…" : "."} ${san[at]}.`) + " Arrow keys step through the moves.");
      buttons.forEach((button, i) => i === at ? button.setAttribute("aria-current", "true") : button.removeAttribute("aria-current"));
      if (at >= 0) list.scrollTop = Math.max(0, buttons[at].offsetTop - list.offsetTop - 60);
      element.querySelectorAll(".plies").forEach(plot => {
        const [left, right] = plot.dataset.x.split(" ").map(Number), cursor = plot.querySelector(".cursor");
        const x = left + (right - left) * Math.max(at, 0) / Math.max(uci.length - 1, 1);
        cursor.setAttribute("x1", x);
        cursor.setAttribute("x2", x);
      });
      tell(at);
    }

    const steps = {
      first: () => go(0), previous: () => go(own.ply - 1), next: () => go(own.ply + 1), last: () => go(uci.length),
      flip: () => { own.turned = !own.turned; go(own.ply); },
    };
    const controls = element.querySelector(".controls");
    controls.hidden = false;
    controls.addEventListener("click", event => event.target.dataset.go && steps[event.target.dataset.go]());
    const keys = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", f: "flip" };
    element.querySelector(".body").addEventListener("keydown", event => {
      if (!keys[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      steps[keys[event.key]]();
    });
    element.querySelectorAll(".plies").forEach(plot => plot.addEventListener("click", event => {
      const [left, right] = plot.dataset.x.split(" ").map(Number), box = plot.getBoundingClientRect();
      const x = (event.clientX - box.left) * plot.viewBox.baseVal.width / box.width;
      go(1 + Math.round((x - left) / (right - left) * (uci.length - 1)));
    }));
    element.addEventListener("assay:go", event => go(event.detail));
    go(own.ply);
  }

  // The page.

  function open() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") {
      target.dataset.asked = "yes";
      target.open = true;
      target.scrollIntoView();
    }
  }

  function theme(button) {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
    const label = () => { button.textContent = isDark() ? "Light" : "Dark"; };
    button.hidden = false;
    button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; label(); });
    label();
  }

  // A tap on a number says what it means; another, or a key, takes it away.
  addEventListener("click", event => {
    const box = document.querySelector(".why"), cell = event.target.closest && event.target.closest("[data-why]");
    if (!box) return;
    const entry = cell && !event.target.closest("a, button") && document.getElementById("why-" + cell.dataset.why);
    box.hidden = !entry;
    if (entry) box.replaceChildren(make("b", {}, entry.querySelector("dt").textContent + ": "), entry.querySelector("dd").textContent);
  });
  addEventListener("keydown", event => {
    const box = document.querySelector(".why");
    if (box && event.key === "Escape") box.hidden = true;
  });

  function witnesses(section) {
    const table = section.querySelector("table.players"), button = section.querySelector("button.witnesses");
    const show = all => {
      table.classList.toggle("all", all);
      button.setAttribute("aria-pressed", all);
      button.textContent = all ? "Hide the witnesses" : "Show the witnesses";
    };
    button.hidden = false;
    button.addEventListener("click", () => { kept.all = !kept.all; show(kept.all); });
    show(Boolean(kept.all));
  }

  function enhance(root) {
    root.querySelectorAll("#glance").forEach(witnesses);
    root.querySelectorAll("table.sortable").forEach(sortable);
    root.querySelectorAll("button.theme").forEach(theme);
    root.querySelectorAll("details.game").forEach(element => {
      if (element.open) game(element);
      element.querySelector("summary").addEventListener("click", () => { element.dataset.asked = "yes"; });
      element.addEventListener("toggle", () => {
        if (!element.open) return;
        game(element);
        // Arrow keys work at once.
        if (element.dataset.asked) element.querySelector(".board")?.focus({ preventScroll: true });
      });
    });
    open();
  }

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach(element => { element.open = true; if (element.classList.contains("game")) game(element, true); });
  });
  addEventListener("afterprint", () => closed.forEach(element => { element.open = false; }));
  // A link to a move opens its game there.
  addEventListener("click", event => {
    const link = event.target.closest && event.target.closest("a[data-ply]");
    if (!link) return;
    const element = document.getElementById(link.hash.slice(1));
    if (!element) return;
    (kept[element.id] ||= { ply: 0, turned: false }).ply = +link.dataset.ply;
    if (element.dataset.ready) element.dispatchEvent(new CustomEvent("assay:go", { detail: +link.dataset.ply }));
    if (location.hash === link.hash) open();
  });
  addEventListener("hashchange", open);
  addEventListener("assay:grown", event => enhance(event.target));
  enhance(document);
})();
