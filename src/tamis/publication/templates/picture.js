// A picture of all releases, one dot each: drawn anew when its width changes, looked at by pointer
// or arrow keys. `draw` gives what does not move for a width, `marks` what moves for a state.

const REACH = 28;
const NARROW = 480;
const MANY = 300;
const PETALS = 8;
const LETTER = 8.5; // the width of a letter in a name, rather too much than too little
const MARGIN = { top: 34, right: 16, bottom: 46, left: 52 };

const heightFor = (width) =>
  Math.round(Math.min(560, Math.max(width * 0.68, Math.min(380, width * 1.1))));

function makePicture(host, words, { draw, marks }, hooks) {
  let scene = null;
  let layer = null;
  let shown = null;

  function redraw() {
    scene = draw(Math.max(280, Math.round(host.clientWidth)));
    layer = svg("g");
    const frame = { viewBox: `0 0 ${scene.width} ${scene.height}`, role: "group", tabindex: "0" };
    const picture = svg("svg", { ...frame, "aria-label": words }, ...scene.layers, layer);
    listen(picture);
    host.replaceChildren(picture);
    if (shown) show(shown);
  }

  // What is released, what is best now and what is looked at lie above all other dots.
  function show(state) {
    shown = state;
    layer.replaceChildren(...marks(scene, state));
  }

  function nearest(event) {
    const box = host.firstChild.getBoundingClientRect();
    const size = scene.width / box.width;
    const [x, y] = [(event.clientX - box.left) * size, (event.clientY - box.top) * size];
    let found = null;
    let least = REACH;
    scene.places.forEach(([px, py], i) => {
      const far = Math.hypot(px - x, py - y);
      if (far < least) [found, least] = [i, far];
    });
    return found;
  }

  function listen(picture) {
    picture.addEventListener("pointermove", (event) => hooks.pick(nearest(event)));
    picture.addEventListener("pointerdown", (event) => hooks.pick(nearest(event)));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) hooks.walk(step);
      else if (event.key === "Home") hooks.walk(0);
      else if (event.key === "Escape") hooks.pick(null);
      else return;
      event.preventDefault();
    });
  }

  let width = host.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(host.clientWidth - width) < 2) return;
    width = host.clientWidth;
    redraw();
  }).observe(host);
  redraw();
  return { show };
}

// The release that is out, the best one and the one that is looked at, each with its name.
function standOut(scene, candidates, { best, released, picked }, taken) {
  const [x, y] = scene.places[released];
  return [
    svg("path", { class: "released", d: `M${x} ${y - 8}l8 8-8 8-8-8z` }),
    ...(best === null ? [] : bestMarks(scene, candidates, best, released, taken)),
    ...(picked === null || picked === best ? [] : pickedMarks(scene, candidates, picked, released, taken)),
  ];
}

function bestMarks(scene, candidates, best, released, taken) {
  const [spot, other] = [scene.places[best], scene.places[released]];
  const ring = disc("ring", spot, 13);
  if (best === released) return [ring, pointName(scene, candidates[best], spot, -14, taken)];
  const near = Math.hypot(spot[0] - other[0], spot[1] - other[1]) < 40;
  const above = spot[1] <= other[1];
  return [
    disc("best", spot, 6),
    ring,
    pointName(scene, candidates[best], spot, near && !above ? 24 : -14, taken),
    pointName(scene, candidates[released], other, near && above ? 24 : -14, taken),
  ];
}

function pickedMarks(scene, candidates, picked, released, taken) {
  const mark = disc("picked", scene.places[picked], 9);
  if (picked === released) return [mark];
  return [mark, pointName(scene, candidates[picked], scene.places[picked], 24, taken)];
}

// A name beside a dot, on the side with more room, and no longer than that has room for.
function pointName(scene, { name }, spot, down, taken) {
  const room = (inRightHalf(scene, spot) ? spot[0] : scene.width - spot[0]) - 16;
  const text = shortened(name, Math.min(34, Math.floor(room / LETTER)));
  return nameBeside(scene, "point-name", spot, text, down, taken);
}

const inRightHalf = ({ across }, [x]) => x > (across.start + across.stop) / 2;

// A name near a spot, where it covers no dot and none of the names that are taken, or the fewest.
function nameBeside(scene, kind, spot, text, down, taken) {
  const first = inRightHalf(scene, spot);
  const levels = [down, down < 0 ? 24 : -14, -32, 42, 60, -50];
  const options = levels.flatMap((level) =>
    [first, !first].map((left) => boxOf(spot[0] + (left ? -16 : 16), spot[1] + level, text, left)));
  const costs = options.map((box) => hidden(scene, box, taken));
  const best = options[costs.indexOf(Math.min(...costs))];
  taken.push(best);
  return word(kind, best.x, best.y, best.left ? "end" : "start", text);
}

function boxOf(x, y, text, left) {
  const wide = LETTER * Array.from(text).length;
  const start = left ? x - wide : x;
  return { x, y, left, start, stop: start + wide, top: y - 13, bottom: y + 4 };
}

function hidden({ width, up, places }, box, taken) {
  const outside = box.start < 0 || box.stop > width || box.top < 0 || box.bottom > up.start;
  const dots = places.filter(([x, y]) =>
    x > box.start - 6 && x < box.stop + 6 && y > box.top - 6 && y < box.bottom + 6);
  const names = taken.filter((other) =>
    other.start < box.stop && box.start < other.stop && other.top < box.bottom && box.top < other.bottom);
  return 1000 * outside + dots.length + 3 * names.length;
}

const within = (scale, value) => scale(Math.min(scale.high, Math.max(scale.low, value)));

// The intervals of a release to both sides of its dot.
function ranges({ across, up }, [x, y], wide, tall) {
  const found = [];
  if (wide) found.push(stroke("range", [within(across, wide.low), y], [within(across, wide.high), y]));
  if (tall) found.push(stroke("range", [x, within(up, tall.low)], [x, within(up, tall.high)]));
  return found;
}

// Dots on the same spot open like petals, so that each can be seen.
function apart(spots) {
  const groups = new Map();
  spots.forEach(([x, y], i) => {
    const key = `${Math.round(x / 2)} ${Math.round(y / 2)}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(i);
  });
  const found = spots.slice();
  for (const group of groups.values()) {
    if (group.length < 2 || group.length > PETALS) continue;
    const radius = group.length === 2 ? 5 : 7;
    group.forEach((at, i) => {
      const turn = (2 * Math.PI * i) / group.length;
      const [x, y] = spots[at];
      found[at] = [x + radius * Math.cos(turn), y + radius * Math.sin(turn)];
    });
  }
  return found;
}

// What cannot be chosen lies below, the front above what it beats.
function dots(candidates, places, { forbidden, front }) {
  const depth = (c) => (forbidden(c) ? 0 : front(c) ? 2 : 1);
  const order = candidates.map((_, i) => i).sort((a, b) => depth(candidates[a]) - depth(candidates[b]));
  const many = candidates.length > MANY;
  return order.map((i) => {
    const [x, y] = places[i];
    if (forbidden(candidates[i])) {
      return svg("path", { class: "forbidden", d: `M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8` });
    }
    const ahead = front(candidates[i]);
    const kind = (ahead ? "front" : "dot") + (many ? " many" : "");
    return disc(kind, places[i], many ? (ahead ? 3.5 : 2.5) : 5);
  });
}

// Picking a release to look at: one by its number, or one some steps along the order, 0 for the first.
function makePicking(state, shown) {
  function pick(at) {
    if (at === state.picked) return;
    state.picked = at;
    shown();
  }

  function walk(step) {
    const here = state.order.indexOf(state.picked ?? state.best);
    const next = step === 0 ? 0 : Math.min(state.order.length - 1, Math.max(0, here + step));
    pick(state.order[next]);
  }

  return { pick, walk };
}
