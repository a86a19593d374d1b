// Sliders, pictures and tables of one state: the weights, and the release that is looked at.

function startRanks(part, say, { columns, candidates, factors, limits }) {
  const contest = ranksOf(candidates, factors);
  const sliders = factors.map((_, f) => part(`weight-${f}`));
  const used = factors.map((f) => f.weight);
  const released = candidates.findIndex((c) => c.chosen);
  const state = { weights: used, shares: used, best: null, released, picked: null };

  const worthless = () => state.weights.every((w) => w === 0);

  // Where nothing is worth anything, the order stays what it was.
  function weigh(weights) {
    state.weights = weights;
    if (!worthless()) state.shares = sharesOf(weights);
    later();
  }

  const weighBySliders = () => weigh(sliders.map((slider) => Number(slider.value)));

  function setSliders(weights) {
    const sum = sumOf(weights);
    sliders.forEach((slider, f) => (slider.value = Math.round((100 * weights[f]) / sum)));
  }

  // Moves that come within one frame are drawn once.
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
    Object.assign(state, contest.standing(state.shares));
    const total = sumOf(state.shares);
    sliders.forEach((slider, f) => {
      const text = Math.round((100 * state.shares[f]) / total) + "%";
      part(`share-${f}`).textContent = text;
      slider.setAttribute("aria-valuetext", text);
    });
    sayWinner();
    sayDetail();
    plot.show(state);
    map.show({ shares: state.shares, best: contest.pool.indexOf(state.best) });
    ranking.show(state);
  }

  function sayWinner() {
    const words = () => winnerWords(candidates[state.best], candidates[released], worthless());
    say(part("winner"), `${state.best} ${worthless()}`, words);
  }

  function sayDetail() {
    const at = state.picked ?? state.best ?? released;
    const words = () => detailWords(candidates[at], columns, standingWords(at));
    say(part("detail"), `${at} ${state.shares.join(" ")}`, words);
  }

  function standingWords(at) {
    const i = contest.pool.indexOf(at);
    if (i < 0) return "Not ranked.";
    const place = FIGURES.count(state.order.indexOf(at) + 1);
    const terms = state.shares.map((w, f) => `${w.toFixed(2)} × ${contest.ranks[f][i]}`);
    const sum = `${terms.join(" + ")} = ${state.scores[at].toFixed(3)}`;
    return `Place ${place} of ${FIGURES.count(contest.pool.length)}: ${sum}`;
  }

  const { pick, walk } = makePicking(state, () => {
    plot.show(state);
    ranking.mark(state);
    sayDetail();
  });

  function takeFromMap(corners) {
    const rest = state.shares.slice(3);
    const free = 1 - sumOf(rest);
    setSliders([...corners.map((w) => w * free), ...rest]);
    weighBySliders();
  }

  const plot = makePlot(part("plot"), candidates, limits, { pick, walk });
  const rankingParts = { table: part("ranking"), more: part("more"), count: part("shown-rows") };
  const ranking = makeRanking(rankingParts, candidates, RANKED_ROWS, { pick });
  const mapParts = { host: part("map"), table: part("map-table"), intro: part("map-words") };
  const mapless = factors.length < 2;
  const map = mapless
    ? { show() {}, patches: () => [] }
    : makeMap(mapParts, contest, factors, { weigh: takeFromMap });
  part("map").closest(".card").hidden = mapless;
  part("explorer").classList.toggle("has-forbidden", candidates.some(forbidden));
  sliders.forEach((slider) => slider.addEventListener("input", weighBySliders));
  part("reset").addEventListener("click", () => {
    setSliders(used);
    weigh(used);
  });
  new ResizeObserver(later).observe(part("map"));
  setSliders(used);
  refresh();
  const patches = () => map.patches().map((p) => ({ ...p, candidate: contest.pool[p.candidate] }));
  return { evaluation, state, patches };
}

// The ranked candidates, their ranks, and how they stand under some weights.
function ranksOf(all, factors) {
  const pool = all.map((_, i) => i).filter((i) => all[i].ranked);
  const candidates = pool.map((at) => all[at]);
  const allowed = candidates.map((_, i) => i).filter((i) => candidates[i].fails.length === 0);
  const sizes = candidates.map((c) => c.size);
  const ranks = factors.map((f) => ranked(candidates.map((c) => c.values[f.key]), f.direction));
  const may = new Set(allowed);

  function standing(shares) {
    const sums = weighted(ranks, shares);
    const order = ordered(sums, sizes);
    const scores = new Array(all.length).fill(null);
    pool.forEach((at, i) => (scores[at] = sums[i]));
    const best = order.find((i) => may.has(i));
    return { scores, order: order.map((i) => pool[i]), best: best === undefined ? null : pool[best] };
  }

  return { pool, candidates, allowed, sizes, ranks, standing };
}

// What a screen reader would read out is written only when it is something new.
function say(host, key, parts) {
  if (host.dataset.said === key) return;
  host.dataset.said = key;
  host.replaceChildren(...parts());
}

function start() {
  const part = (id) => document.getElementById(id);
  const data = JSON.parse(part("data").textContent);
  const caution = startCaution(part, say, data);
  document.querySelectorAll(".climb").forEach(startRungs);
  document.querySelectorAll(".finder").forEach((finder) => startFinder(finder, data.stories));
  return { ...(data.factors.length ? startRanks(part, say, data) : {}), caution };
}

// For those who want to check the sums in the console.
globalThis.tamis = Object.freeze(start());
