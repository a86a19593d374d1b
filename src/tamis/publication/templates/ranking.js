// The table of all releases, as many lines of it as the reader asked for. A `shape` says which of
// them have a place, which are forbidden or on the front, and what their cells are.

const FIRST_ROWS = 10;
const MORE_ROWS = 40;

function makeRanking({ table, more, count }, candidates, shape, hooks) {
  const body = table.tBodies[0];
  const unranked = candidates.map((_, i) => i).filter((i) => !shape.placed(candidates[i]));
  let rows = FIRST_ROWS;
  let last = null;

  // The same signs as in the picture.
  function sign(candidate) {
    let [words, mark] = ["beaten by another", disc("dot", [8, 8], 4.5)];
    if (shape.forbidden(candidate)) {
      [words, mark] = ["cannot be chosen", svg("path", { class: "forbidden", d: "M4 4l8 8M12 4l-8 8" })];
    } else if (shape.front(candidate)) {
      [words, mark] = ["on the front", disc("front", [8, 8], 5)];
    }
    const frame = { class: "sign", viewBox: "0 0 16 16", role: "img", "aria-label": words };
    return svg("svg", frame, mark);
  }

  const tag = (kind, words) => (words ? html("span", { class: `tag ${kind}` }, words) : null);

  function release(candidate) {
    const { name, chosen, fails } = candidate;
    const words = html(
      "div",
      {},
      html("button", { type: "button", class: "pick" }, named(name)),
      tag("chosen", chosen ? "released" : ""),
      tag("fails", fails.join(", ")),
      html("span", { class: "under narrow" }, shape.brief(candidate)),
    );
    return html("td", {}, html("div", { class: "release" }, sign(candidate), words));
  }

  function line(at, place, score) {
    const candidate = candidates[at];
    const cell = (kind, text) => html("td", { class: kind }, figure(text));
    return html(
      "tr",
      { "data-candidate": at, "data-score": score },
      cell("number", place === null ? "—" : FIGURES.count(place)),
      release(candidate),
      ...shape.cells(candidate, place === null ? null : score).map(([kind, text]) => cell(kind, text)),
    );
  }

  function show(state) {
    last = state;
    const all = [...state.order, ...unranked];
    const shown = all.slice(0, rows).map((at, i) =>
      line(at, i < state.order.length ? i + 1 : null, state.scores[at] ?? 0));
    body.replaceChildren(...shown);
    count.textContent = `${FIGURES.count(shown.length)} of ${FIGURES.count(all.length)}`;
    more.hidden = shown.length >= all.length;
    mark(state);
  }

  function mark(state) {
    for (const row of body.rows) {
      const at = Number(row.dataset.candidate);
      row.classList.toggle("now", at === state.best);
      row.classList.toggle("looked-at", at === state.picked);
    }
  }

  table.addEventListener("click", (event) => {
    const button = event.target.closest("button.pick");
    if (button) hooks.pick(Number(button.closest("tr").dataset.candidate));
  });
  more.addEventListener("click", () => {
    rows += MORE_ROWS;
    show(last);
  });
  return { show, mark };
}

// How the table of all releases by their weighted ranks is written.
const RANKED_ROWS = {
  placed: (c) => c.ranked,
  forbidden,
  front: onFront,
  brief: (c) => `${FIGURES.share(c.performance)} right, attacker ${FIGURES.change(c.pbi)}, ${plural(c.size, "column")}`,
  cells: (c, score) => [
    ["number wide", FIGURES.count(c.size)],
    ["number wide", FIGURES.share(c.performance)],
    ["number wide", FIGURES.change(c.pbi)],
    ["wide", c.baseline ? "everything" : REGIONS[c.region] ?? ""],
    ["number", score === null ? "—" : score.toFixed(3)],
  ],
};
