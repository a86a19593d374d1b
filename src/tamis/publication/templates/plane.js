// The plane of kept and told: nothing released at the lower left, everything at the upper right.
// Where nothing is told, the number of columns takes the place of told.

const PLANE_WORDS =
  "Releases by what they keep and what they tell. The arrow keys step from the best to the worst; " +
  "the table below has the same figures.";

const fails = (candidate) => candidate.fails.length > 0;

// What stands to the right: told, or columns where nothing is told.
const rightward = ({ tells }, one) => (tells ? one.told : one.size);

// Those that no other one beats by the rows used to choose, from left to right.
function frontOf(candidates, facts) {
  return candidates
    .map((_, i) => i)
    .filter((i) => candidates[i].ahead)
    .sort((a, b) => rightward(facts, candidates[a]) - rightward(facts, candidates[b]));
}

function planeScene(candidates, facts, limits, front, width) {
  const height = heightFor(width);
  const across = planeScale(candidates, facts, MARGIN.left, width - MARGIN.right);
  const up = linear(-0.06, 1.09, height - MARGIN.bottom, MARGIN.top);
  const spot = (c) => [across(rightward(facts, c)), up(c.kept)];
  const places = apart(candidates.map(spot));
  const ahead = new Set(front.map((i) => candidates[i]));
  const names = [];
  const layers = [
    svg("rect", { class: "region", ...frameOf(across, up) }),
    ...planeAxes(across, up, facts, { width, height }),
    ...planeLimits(across, up, limits, facts),
    frontLine(front.map((i) => places[i]), [across(0), up(0)]),
    ...corners({ width, across, up, places }, candidates, names, width < NARROW),
    ...dots(candidates, places, { forbidden: fails, front: (c) => ahead.has(c) }),
  ];
  return { width, height, across, up, places, names, layers };
}

// Of records with very many columns, everything would push all other releases into a corner.
function planeScale(candidates, facts, start, stop) {
  const found = candidates.map((c) => rightward(facts, c)).sort((a, b) => b - a);
  const most = Math.max(facts.tells ? 1 : facts.features, found[0]);
  const next = found.find((size) => size < found[0]) ?? 0;
  return !facts.tells && most > 20 * Math.max(1, next)
    ? logarithmic(1.3 * most, start, stop)
    : linear(-0.03 * most, 1.04 * most, start, stop);
}

const frameOf = (across, up) => ({
  x: across.start,
  y: up.stop,
  width: across.stop - across.start,
  height: up.start - up.stop,
});

function planeAxes(across, up, { tells, target, sensitive }, { width, height }) {
  const quarters = [0, 0.25, 0.5, 0.75, 1];
  const counts = across.values ?? ticks({ low: 0, high: across.high }, 5).values.filter(Number.isInteger);
  const below = tells ? quarters : counts;
  const short = width < NARROW;
  const name = (text) => shortened(text, short ? 12 : 30);
  const right = tells
    ? short ? `told about ${name(sensitive)} →` : `share told of what the table tells about ${name(sensitive)} →`
    : "columns released →";
  const upwards = short ? `↑ kept about ${name(target)}` : `↑ share kept of what can be learnt about ${name(target)}`;
  return [
    ...quarters.map((t) => stroke("grid", [across.start, up(t)], [across.stop, up(t)])),
    ...below.map((t) => word("tick", across(t), up.start + 18, "middle", tells ? FIGURES.share(t, 0) : FIGURES.count(t))),
    ...quarters.map((t) => word("tick", across.start - 8, up(t) + 4, "end", FIGURES.share(t, 0))),
    word("axis-name", across.stop, height - 8, "end", right),
    word("axis-name", 4, 16, "start", upwards),
  ];
}

function planeLimits(across, up, { min_kept: least, max_told: most }, { tells }) {
  const found = [];
  if (least !== null) {
    found.push(stroke("limit most", [across.start, up(least)], [across.stop, up(least)]));
    found.push(word("limit-name most", across.stop - 6, up(least) + 15, "end", `limit ${FIGURES.share(least)}`));
  }
  if (most !== null && tells) {
    found.push(stroke("limit most", [across(most), up.start], [across(most), up.stop]));
    found.push(word("limit-name most", across(most) + 6, up.start - 8, "start", `limit ${FIGURES.share(most)}`));
  }
  return found;
}

function frontLine(places, nothing) {
  const points = [nothing, ...places].map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`);
  return svg("polyline", { class: "front-line", points: points.join(" ") });
}

function corners(scene, candidates, names, short) {
  const [x, y] = [scene.across(0), scene.up(0)];
  const whole = scene.places[candidates.findIndex((c) => c.baseline)];
  const nothing = boxOf(x + 12, y + 5, short ? "nothing" : "nothing released", false);
  names.push(nothing);
  return [
    svg("rect", { class: "dot", x: x - 4, y: y - 4, width: 8, height: 8 }),
    word("corner-name", nothing.x, nothing.y, "start", short ? "nothing" : "nothing released"),
    nameBeside(scene, "corner-name", whole, short ? "everything" : "everything released", -9, names),
  ];
}

// From what was released to the same with one more column.
function nextColumn(scene, facts, released, taken) {
  const { across, up, places } = scene;
  const next = facts.one_more;
  if (!next) return [];
  const here = places[released.at];
  const beside = facts.tells ? next.told : released.size + 1;
  const spot = [within(across, beside), within(up, next.kept)];
  if (Math.hypot(spot[0] - here[0], spot[1] - here[1]) < 16) return []; // no step to be seen
  const text = `+ ${shortened(next.name, 24)}`;
  return [
    stroke("next-line", here, spot),
    disc("next", spot, 4),
    nameBeside(scene, "next-name", spot, text, 16, taken),
  ];
}

// What is worth as much as the best release under a caution, as a line through it.
function worthLine({ across, up }, one, caution) {
  const at = (kept) => one.told + (kept - one.kept) / caution;
  const [low, high] = caution < 1e-6
    ? [[across.low, one.kept], [across.high, one.kept]]
    : [clipped(across, up, one, caution, at(up.low), up.low), clipped(across, up, one, caution, at(up.high), up.high)];
  return stroke("worth", [across(low[0]), up(low[1])], [across(high[0]), up(high[1])]);
}

function clipped(across, up, one, caution, told, kept) {
  const inside = Math.min(across.high, Math.max(across.low, told));
  return [inside, inside === told ? kept : one.kept + caution * (inside - one.told)];
}

function makePlane(host, candidates, facts, limits, front, hooks) {
  const draw = (width) => planeScene(candidates, facts, limits, front, width);
  const marks = (scene, state) => {
    const at = state.picked ?? state.best ?? state.released;
    const one = candidates[at];
    const spot = [scene.across(rightward(facts, one)), scene.up(one.kept)];
    const released = { at: state.released, size: candidates[state.released].size };
    const taken = [...scene.names];
    const names = standOut(scene, candidates, state, taken);
    return [
      ...(facts.tells && state.best !== null ? [worthLine(scene, candidates[state.best], state.caution)] : []),
      ...ranges(scene, spot, facts.tells ? one.told_interval : null, one.kept_interval),
      ...(state.picked === null ? nextColumn(scene, facts, released, taken) : []),
      ...names,
    ];
  };
  return makePicture(host, PLANE_WORDS, { draw, marks }, hooks);
}
