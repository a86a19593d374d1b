// The choice by kept and told. Who wins under each caution was found in Python, since ties need the
// errors of differences between releases; the order of the others is that of their worth.

function winnerAt(winners, caution) {
  let found = null;
  for (const one of winners) if (one.caution <= caution) found = one.candidate;
  return found;
}

function worthOf({ worth: [kept, told] }, caution) {
  return kept - caution * told;
}

// What can be chosen, from the most worth to the least, the winner first.
function orderUnder(candidates, caution, best) {
  return candidates
    .map((_, i) => i)
    .filter((i) => !fails(candidates[i]))
    .sort((a, b) => (b === best) - (a === best)
      || worthOf(candidates[b], caution) - worthOf(candidates[a], caution)
      || candidates[a].size - candidates[b].size || a - b);
}

function startCaution(part, say, { columns, candidates, limits, bits }) {
  const { cautions, winners, caution: used } = bits;
  const released = candidates.findIndex((c) => c.chosen);
  const front = frontOf(candidates, bits);
  const state = { caution: used, best: null, released, picked: null, order: [], scores: [] };
  const slider = part("caution");

  function setCaution(caution) {
    state.caution = caution;
    state.best = winnerAt(winners, caution);
    state.order = orderUnder(candidates, caution, state.best);
    state.scores = candidates.map((c) => worthOf(c, caution));
    refresh();
  }

  function refresh() {
    const text = Number(state.caution.toFixed(4)).toString();
    part("caution-value").textContent = text;
    part("caution-words").textContent = cautionWords(state.caution, bits);
    slider.setAttribute("aria-valuetext", text);
    say(part("worth-winner"), `${state.best}`, () => worthWinner(candidates, state, bits));
    sayDetail();
    plane.show(state);
    ranking.show(state);
  }

  function sayDetail() {
    const at = state.picked ?? state.best ?? released;
    const place = state.order.indexOf(at) + 1;
    const of = FIGURES.count(state.order.length);
    const standing = place ? `Place ${FIGURES.count(place)} of ${of}.` : "Not ranked.";
    const words = () => worthDetail(candidates[at], candidates[released], bits, columns, standing);
    say(part("plane-detail"), `${at} ${state.caution}`, words);
  }

  const { pick, walk } = makePicking(state, () => {
    plane.show(state);
    ranking.mark(state);
    sayDetail();
  });

  const plane = makePlane(part("plane"), candidates, bits, limits, front, { pick, walk });
  const rows = { table: part("worth"), more: part("worth-more"), count: part("worth-rows") };
  const ahead = new Set(front.map((i) => candidates[i]));
  const ranking = makeRanking(rows, candidates, worthRows(bits, ahead), { pick });
  const moved = () => setCaution(cautions[Number(slider.value)]);
  const reset = () => {
    slider.value = cautions.indexOf(used);
    setCaution(used);
  };
  slider.max = cautions.length - 1;
  slider.addEventListener("input", moved);
  part("caution-reset").addEventListener("click", reset);
  part("plane-parts").classList.toggle("has-forbidden", candidates.some(fails));
  reset();
  return state;
}

// How the table of all releases by worth is written.
function worthRows({ tells }, ahead) {
  const told = (c) => (!tells ? "—" : c.told > 0 ? FIGURES.share(c.told) : "none found");
  return {
    placed: (c) => !fails(c),
    forbidden: fails,
    front: (c) => ahead.has(c),
    brief: (c) => [`keeps ${FIGURES.share(c.kept)}`, ...(tells ? [`tells ${told(c)}`] : []), plural(c.size, "column")].join(", "),
    cells: (c) => [
      ["number wide", FIGURES.count(c.size)],
      ["number wide", FIGURES.share(c.kept)],
      ["number wide", told(c)],
    ],
  };
}
