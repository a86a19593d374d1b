// The table of all releases, as many lines of it as the reader asked for.

const FIRST_ROWS = 10;
const MORE_ROWS = 40;

function makeRanking(table, more, count, candidates, hooks) {
  let rows = FIRST_ROWS;
  let last = null;

  const beside = (candidate) => (candidate.baseline ? "everything" : REGIONS[candidate.region] ?? "");

  // The same signs as in the picture.
  function sign(candidate) {
    const [words, mark] = candidate.fails.length || !candidate.ranked
      ? ["cannot be chosen", svg("path", { class: "barred", d: "M4 4l8 8M12 4l-8 8" })]
      : candidate.on_front
        ? ["on the Pareto front", svg("circle", { class: "front", cx: 8, cy: 8, r: 5 })]
        : ["beaten by another", svg("circle", { class: "dot", cx: 8, cy: 8, r: 4.5 })];
    return svg("svg", { class: "sign", viewBox: "0 0 16 16", role: "img", "aria-label": words }, mark);
  }

  function line(at, place, score) {
    const candidate = candidates[at];
    const { performance, pbi, size } = candidate;
    const brief = `${FIGURES.share(performance)} right, attacker ${FIGURES.change(pbi)}, ${plural(size, "column")}`;
    const figure = (text, kind) => html("td", { class: kind }, html("span", { class: "figure" }, text));
    const tags = [
      candidate.chosen ? html("span", { class: "tag chosen" }, "released") : null,
      candidate.fails.length ? html("span", { class: "tag fails" }, candidate.fails.join(", ")) : null,
    ];
    return html("tr", { "data-candidate": at, "data-score": score },
      figure(place === null ? "—" : FIGURES.count(place), "number"),
      html("td", {}, html("div", { class: "release" }, sign(candidate), html("div", {},
        html("button", { type: "button", class: "pick" }, named(candidate.name)), ...tags,
        html("span", { class: "under narrow" }, brief)))),
      figure(FIGURES.count(size), "number wide"),
      figure(FIGURES.share(performance), "number wide"),
      figure(FIGURES.change(pbi), "number wide"),
      html("td", { class: "wide" }, beside(candidate)),
      figure(place === null ? "—" : score.toFixed(3), "number"));
  }

  function show(state) {
    last = state;
    const unranked = candidates.map((_, i) => i).filter((i) => !candidates[i].ranked);
    const all = [...state.order, ...unranked];
    const shown = all.slice(0, rows).map((at, i) =>
      line(at, i < state.order.length ? i + 1 : null, state.scores[at] ?? 0));
    table.tBodies[0].replaceChildren(...shown);
    count.textContent = `${FIGURES.count(shown.length)} of ${FIGURES.count(all.length)}`;
    more.hidden = shown.length >= all.length;
    mark(state);
  }

  function mark(state) {
    for (const row of table.tBodies[0].rows) {
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
