// Sliders, pictures and tables of one state: the weights, and the release that is looked at.

function start() {
  const { columns, candidates, factors, limits } = JSON.parse(document.getElementById("data").textContent);
  const part = (id) => document.getElementById(id);
  const pool = candidates.map((_, i) => i).filter((i) => candidates[i].ranked);
  const allowed = pool.map((at, i) => i).filter((i) => candidates[pool[i]].fails.length === 0);
  const sizes = pool.map((at) => candidates[at].size);
  const ranks = factors.map((f) => ranked(pool.map((at) => candidates[at].values[f.key]), f.direction));
  const sliders = factors.map((_, f) => part(`weight-${f}`));
  const used = factors.map((f) => f.weight);
  const released = candidates.findIndex((c) => c.chosen);
  const state = { weights: used, shares: used, scores: [], order: [], best: null, released, picked: null };

  function rank() {
    const scores = weighted(ranks, state.shares);
    const order = ordered(scores, sizes);
    const may = new Set(allowed);
    const best = order.find((i) => may.has(i));
    state.scores = [];
    pool.forEach((at, i) => (state.scores[at] = scores[i]));
    state.order = order.map((i) => pool[i]);
    state.best = best === undefined ? null : pool[best];
  }

  // Nothing is worth anything: keep what was, and say so.
  function weigh(weights) {
    state.weights = weights;
    const worthless = weights.every((w) => w === 0);
    if (!worthless) state.shares = sharesOf(weights);
    part("explorer").classList.toggle("worthless", worthless);
    later();
  }

  function setSliders(weights) {
    const sum = weights.reduce((total, w) => total + w, 0);
    sliders.forEach((slider, f) => (slider.value = Math.round((100 * weights[f]) / sum)));
  }

  let waiting = false;
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      refresh();
    });
  }

  function refresh() {
    rank();
    const total = state.shares.reduce((sum, w) => sum + w, 0);
    factors.forEach((_, f) => {
      const text = Math.round((100 * state.shares[f]) / total) + "%";
      part(`share-${f}`).textContent = text;
      sliders[f].setAttribute("aria-valuetext", text);
    });
    sayWinner();
    plot.show(state);
    map.show(state);
    ranking.show(state);
    sayDetail();
  }

  function said(host, key, make) {
    if (host.dataset.said === key) return;
    host.dataset.said = key;
    host.replaceChildren(...make());
  }

  function sayWinner() {
    const worthless = state.weights.every((w) => w === 0);
    said(part("winner"), `${state.best} ${worthless}`, () => {
      if (worthless) return [html("p", {}, "Give at least one thing some weight.")];
      if (state.best === null) return [html("p", {}, "No release keeps all limits.")];
      const best = candidates[state.best];
      const verdict = state.best === released
        ? html("p", { class: "verdict same" }, "This is what was released.")
        : html("p", { class: "verdict" }, "Released was ", named(shortened(candidates[released].name, 80)), ".");
      return [
        html("h4", {}, "Best for these weights"),
        html("p", { class: "winner-name" }, named(shortened(best.name, 120))),
        html("p", {}, `${FIGURES.share(best.performance)} right predictions, attacker’s gain ${FIGURES.change(best.pbi)}, ${plural(best.size, "column")}.`),
        verdict,
      ];
    });
  }

  function sayDetail() {
    const at = state.picked ?? state.best;
    if (at === null) return;
    const one = candidates[at];
    const range = (ends, form) => (ends ? ` (${form(ends.low)} to ${form(ends.high)})` : "");
    const place = state.order.indexOf(at);
    const i = pool.indexOf(at);
    const sum = factors.map((_, f) => `${state.shares[f].toFixed(2)} × ${ranks[f][i]}`).join(" + ");
    said(part("detail"), `${at} ${state.shares.join(" ")}`, () => [
      html("p", { class: "detail-name" }, named(one.name)),
      html("p", { class: "detail-columns" }, ...columnNames(one)),
      html("p", {}, `${FIGURES.share(one.performance)} right predictions${range(one.performance_interval, FIGURES.share)}; attacker’s gain ${FIGURES.change(one.pbi)}${range(one.pbi_interval, FIGURES.change)}; ${plural(one.size, "column")}; found by `, named(one.method), "."),
      html("p", { class: "soft" }, one.ranked ? `Place ${FIGURES.count(place + 1)} of ${FIGURES.count(pool.length)}: ${sum} = ${state.scores[at].toFixed(3)}` : "Not ranked.", one.fails.length ? ` Breaks a limit: ${one.fails.join(", ")}.` : ""),
    ]);
  }

  function columnNames(candidate) {
    const names = candidate.features.map((f) => columns[f]);
    if (candidate.name === names.join(" + ") || names.length === 0) return [];
    const most = 60;
    const shown = names.slice(0, most).flatMap((name, i) => [i ? ", " : "Columns: ", named(name)]);
    return [...shown, names.length > most ? ` and ${names.length - most} more.` : "."];
  }

  function pick(at) {
    if (at === state.picked) return;
    state.picked = at;
    plot.show(state);
    ranking.mark(state);
    sayDetail();
  }

  function walk(step) {
    const here = state.order.indexOf(state.picked ?? state.best);
    const next = step === 0 ? 0 : Math.min(state.order.length - 1, Math.max(0, here + step));
    pick(state.order[next]);
  }

  function take(corners) {
    const rest = state.shares.slice(3);
    const free = 1 - rest.reduce((sum, w) => sum + w, 0);
    setSliders([...corners.map((w) => w * free), ...rest]);
    weigh(sliders.map((slider) => Number(slider.value)));
  }

  const plot = makePlot(part("plot"), candidates, limits, { pick, walk });
  const ranking = makeRanking(part("ranking"), part("more"), part("shown-rows"), candidates, { pick });
  const map = factors.length > 1
    ? inPool(makeMap(part("map"), part("map-table"), part("map-words"), pool.map((at) => candidates[at]), factors, ranks, sizes, allowed, { weigh: take }))
    : { show() {}, patches: () => [] };
  if (factors.length < 2) part("map").closest(".card").hidden = true;

  // The map knows the ranked releases only; the state knows all.
  function inPool(inner) {
    return { show: (now) => inner.show({ ...now, best: pool.indexOf(now.best) }), patches: inner.patches };
  }

  sliders.forEach((slider) =>
    slider.addEventListener("input", () => weigh(sliders.map((one) => Number(one.value)))));
  part("reset").addEventListener("click", () => {
    setSliders(used);
    weigh(used);
  });
  part("explorer").classList.toggle("has-barred", candidates.some((c) => c.fails.length || !c.ranked));
  new ResizeObserver(later).observe(part("map"));
  openForPrint();
  setSliders(used);
  refresh();
  return { evaluation, state, patches: () => map.patches() };
}

function openForPrint() {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((one) => (one.open = true));
  });
  addEventListener("afterprint", () => closed.forEach((one) => (one.open = false)));
}

// For those who want to check the sums in the console.
globalThis.tamis = Object.freeze(start());
