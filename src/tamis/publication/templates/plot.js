// The four regions: usefulness to the right, the attacker's gain upwards, everything released at
// the crossing.

const REGIONS = {
  I: "worse on both",
  II: "more useful, riskier",
  III: "safer, less useful",
  IV: "better on both",
};
function plotScene(candidates, limits, width) {
  const narrow = width < NARROW;
  const height = heightFor(width);
  const air = narrow ? 50 : 36; // above and below the dots, for the names of the regions
  const across = sideways(candidates, limits, width);
  const up = upwards(candidates, limits, height, air);
  const places = apart(candidates.map((c) => [across(c.performance), up(c.pbi)]));
  const baseline = candidates.find((c) => c.baseline);
  const layers = [
    ...regions(across, up, baseline),
    ...axes(across, up, width, height),
    ...dots(candidates, places, { forbidden, front: onFront }),
    ...limitLines(across, up, limits, air),
  ];
  return { width, height, across, up, places, layers };
}

// A limit that is not far from the dots is in the picture.
function sideways(candidates, limits, width) {
  const [low, high] = around(candidates.map((c) => c.performance), 0.1);
  const least = Math.max(limits.min_performance ?? low, 2 * low - high);
  return linear(Math.min(low, least), high, MARGIN.left, width - MARGIN.right);
}

function upwards(candidates, limits, height, air) {
  const [low, top] = around(candidates.map((c) => c.pbi), 0.01);
  const high = Math.max(top, Math.min(limits.max_pbi ?? top, 2 * top - low));
  const room = height - MARGIN.bottom - MARGIN.top;
  const beyond = (air * (high - low)) / (room - 2 * air);
  return linear(low - beyond, high + beyond, height - MARGIN.bottom, MARGIN.top);
}

function regions(across, up, baseline) {
  const [x, y] = [across(baseline.performance), up(baseline.pbi)];
  const [left, right, top, bottom] = [across.start, across.stop, up.stop, up.start];
  const box = (region, x1, y1, x2, y2) => {
    const [wide, tall] = [Math.max(0, x2 - x1), Math.max(0, y2 - y1)];
    return svg("rect", { class: `region r-${region}`, x: x1, y: y1, width: wide, height: tall });
  };
  return [
    box("I", left, top, x, y),
    box("II", x, top, right, y),
    box("III", left, y, x, bottom),
    box("IV", x, y, right, bottom),
    regionName("I", [left + 10, top + 20], "start", x - left, y - top),
    regionName("II", [right - 10, top + 20], "end", right - x, y - top),
    regionName("III", [left + 10, bottom - 10], "start", x - left, bottom - y),
    regionName("IV", [right - 10, bottom - 10], "end", right - x, bottom - y),
  ];
}

// A name takes two lines where its region is narrow, and none where there is no room at all.
function regionName(region, [x, y], anchor, wide, tall) {
  if (wide < 72 || tall < 30) return svg("g");
  const lines = wide < 160 ? REGIONS[region].split(/(?<=,) | (?=on)/) : [REGIONS[region]];
  const first = region === "I" || region === "II" ? y : y - 15 * (lines.length - 1);
  return svg(
    "text",
    { class: `region-name r-${region}`, "text-anchor": anchor },
    ...lines.map((text, i) => svg("tspan", { x, y: first + 15 * i }, text)),
  );
}

function axes(across, up, width, height) {
  const below = ticks(across, Math.max(3, Math.floor(width / 130)));
  const beside = ticks(up, 5);
  const gain = width < NARROW ? "↑ attacker’s gain" : "↑ attacker’s gain over releasing everything";
  return [
    ...below.values.map((t) =>
      word("tick", across(t), up.start + 18, "middle", FIGURES.share(t, below.digits))),
    ...beside.values.map((t) =>
      word("tick", across.start - 8, up(t) + 4, "end", FIGURES.change(t, beside.digits))),
    word("axis-name", across.stop, height - 8, "end", "correct predictions →"),
    word("axis-name", 4, 16, "start", gain),
  ];
}

const forbidden = (candidate) => candidate.fails.length > 0 || !candidate.ranked;
const onFront = (candidate) => candidate.on_front;

function limitLines(across, up, limits, air) {
  const { max_pbi: most, min_performance: least, guessing_pbi: guess } = limits;
  const inside = (scale, value) => value !== null && value > scale.low && value < scale.high;
  const [left, top, bottom] = [across.start, up.stop + air, up.start - air];
  const beside = inside(across, least) ? across(least) : left;
  const start = (beside < left + 90 ? beside : left) + 10;
  const found = [];
  const level = (value, kind, text) => {
    const y = up(value);
    const low = y > bottom - 20; // the names of the lower regions are there
    found.push(stroke(`limit ${kind}`, [left, y], [across.stop, y]));
    found.push(word(`limit-name ${kind}`, start, low ? y - 6 : y + 15, "start", text));
  };
  if (inside(up, most)) level(most, "most", `limit ${FIGURES.change(most)}`);
  if (inside(up, guess)) level(guess, "guessing", "as good as guessing");
  if (inside(across, least)) {
    const text = `limit ${FIGURES.share(least)}`;
    found.push(stroke("limit most", [beside, top], [beside, bottom]));
    found.push(word("limit-name most", beside + 6, (top + bottom) / 2, "start", text));
  }
  return found;
}

const PLOT_WORDS =
  "Releases by usefulness and the attacker’s gain. The arrow keys step from the best to the worst; " +
  "the table below has the same figures.";

function makePlot(host, candidates, limits, hooks) {
  const draw = (width) => plotScene(candidates, limits, width);
  const marks = (scene, state) => {
    const one = candidates[state.picked ?? state.best ?? state.released];
    const spot = [scene.across(one.performance), scene.up(one.pbi)];
    return [
      ...ranges(scene, spot, one.performance_interval, one.pbi_interval),
      ...standOut(scene, candidates, state, []),
    ];
  };
  return makePicture(host, PLOT_WORDS, { draw, marks }, hooks);
}
