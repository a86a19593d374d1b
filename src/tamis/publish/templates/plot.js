// The four regions: usefulness to the right, the attacker's gain upwards, everything released at
// the crossing.

const REGIONS = {
  I: "worse on both",
  II: "more useful, riskier",
  III: "safer, less useful",
  IV: "better on both",
};
const MARGIN = { top: 34, right: 16, bottom: 46, left: 52 };
const NARROW = 480;
const PETALS = 8;

function makePlot(host, candidates, limits, hooks) {
  const baseline = candidates.find((c) => c.baseline);
  let places = [];
  let layer = null;
  let across = null;
  let up = null;
  let air = 0;
  let shown = null;

  function redraw() {
    const width = Math.max(280, Math.round(host.clientWidth));
    const height = Math.round(Math.min(560, Math.max(width * 0.68, Math.min(380, width * 1.1))));
    across = sideways(width);
    air = width < NARROW ? 50 : 36;
    up = upwards(height);
    places = apart(candidates.map((c) => [across(c.performance), up(c.pbi)]));
    layer = svg("g");
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "group", tabindex: "0", "aria-label": "Releases by usefulness and the attacker’s gain. The arrow keys walk from the best to the worst; the table below holds the same figures." },
      ...regions(width, height),
      ...axes(width, height),
      ...candidates.map((c, i) => [depth(c), dot(c, i)]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]),
      ...lines(width, height),
      layer,
    );
    listen(picture);
    host.replaceChildren(picture);
    if (shown) show(shown);
  }

  // Limits that are not far from the dots are in the picture.
  function sideways(width) {
    const [low, high] = around(candidates.map((c) => c.performance), 0.1);
    const least = limits.min_performance ?? low;
    return linear(Math.min(low, Math.max(least, 2 * low - high)), high, MARGIN.left, width - MARGIN.right);
  }

  // Above and below the dots there is air for the names of the regions.
  function upwards(height) {
    let [low, high] = around(candidates.map((c) => c.pbi), 0.01);
    if (limits.max_pbi !== null) high = Math.max(high, Math.min(limits.max_pbi, 2 * high - low));
    const inner = linear(low, high, height - MARGIN.bottom - air, MARGIN.top + air);
    const beyond = (air * (high - low)) / (inner(low) - inner(high));
    return linear(low - beyond, high + beyond, height - MARGIN.bottom, MARGIN.top);
  }

  function regions(width, height) {
    const [x, y] = [across(baseline.performance), up(baseline.pbi)];
    const [left, right, top, bottom] = [MARGIN.left, width - MARGIN.right, MARGIN.top, height - MARGIN.bottom];
    const box = (region, x1, y1, x2, y2) =>
      svg("rect", { class: `region r-${region}`, x: x1, y: y1, width: Math.max(0, x2 - x1), height: Math.max(0, y2 - y1) });
    // A name takes two lines where its region is narrow, and none where there is no room at all.
    const words = (region, at, anchor, line, down) => {
      const room = [anchor === "start" ? x - left : right - x, down ? y - top : bottom - y];
      if (room[0] < 72 || room[1] < 30) return svg("g");
      const lines = room[0] < 160 ? REGIONS[region].split(/(?<=,) | (?=on)/) : [REGIONS[region]];
      const first = down ? line : line - 15 * (lines.length - 1);
      return svg("text", { class: `region-name r-${region}`, "text-anchor": anchor },
        ...lines.map((text, i) => svg("tspan", { x: at, y: first + 15 * i }, text)));
    };
    return [
      box("I", left, top, x, y),
      box("II", x, top, right, y),
      box("III", left, y, x, bottom),
      box("IV", x, y, right, bottom),
      words("I", left + 10, "start", top + 20, true),
      words("II", right - 10, "end", top + 20, true),
      words("III", left + 10, "start", bottom - 10, false),
      words("IV", right - 10, "end", bottom - 10, false),
    ];
  }

  function axes(width, height) {
    const bottom = height - MARGIN.bottom;
    const below = ticks(across.low, across.high, Math.max(3, Math.floor(width / 130)));
    const beside = ticks(up.low, up.high, 5);
    const signed = (value) => (value > 1e-12 ? "+" : "") + minus((100 * value).toFixed(beside.digits)).replace(/^−(0(\.0*)?)$/, "$1") + "%";
    return [
      ...below.values.map((t) => svg("text", { class: "tick", x: across(t), y: bottom + 18, "text-anchor": "middle" }, (100 * t).toFixed(below.digits) + "%")),
      ...beside.values.map((t) => svg("text", { class: "tick", x: MARGIN.left - 8, y: up(t) + 4, "text-anchor": "end" }, signed(t))),
      svg("text", { class: "axis-name", x: width - MARGIN.right, y: height - 8, "text-anchor": "end" }, "right predictions →"),
      svg("text", { class: "axis-name", x: 4, y: 16 }, width < NARROW ? "↑ attacker’s gain" : "↑ attacker’s gain over releasing everything"),
    ];
  }

  function lines(width, height) {
    const found = [];
    const inside = (value) => value > up.low && value < up.high;
    const least = limits.min_performance;
    const beside = least === null ? 0 : across(least);
    const start = beside > MARGIN.left && beside < MARGIN.left + 90 ? beside : MARGIN.left;
    const line = (value, kind, words) => {
      const y = up(value);
      found.push(svg("line", { class: `limit ${kind}`, x1: MARGIN.left, x2: width - MARGIN.right, y1: y, y2: y }));
      const low = y > up(up.low) - 56; // the names of the lower regions are there
      found.push(svg("text", { class: `limit-name ${kind}`, x: start + 10, y: low ? y - 6 : y + 15 }, words));
    };
    if (limits.max_pbi !== null && inside(limits.max_pbi)) line(limits.max_pbi, "most", `limit ${FIGURES.change(limits.max_pbi)}`);
    if (inside(limits.guessing_pbi)) line(limits.guessing_pbi, "guessing", "as good as guessing");
    if (least !== null && least > across.low && least < across.high) {
      const [top, bottom] = [MARGIN.top + air, height - MARGIN.bottom - air];
      found.push(svg("line", { class: "limit most", x1: beside, x2: beside, y1: top, y2: bottom }));
      found.push(svg("text", { class: "limit-name most", x: beside + 6, y: (top + bottom) / 2 }, `limit ${FIGURES.share(least)}`));
    }
    return found;
  }

  // The front lies above what it beats.
  const depth = (candidate) => (candidate.fails.length || !candidate.ranked ? 0 : candidate.on_front ? 2 : 1);

  function dot(candidate, i) {
    const [x, y] = places[i];
    if (candidate.fails.length || !candidate.ranked) {
      return svg("path", { class: "barred", d: `M${x - 4} ${y - 4}l8 8M${x + 4} ${y - 4}l-8 8` });
    }
    const many = candidates.length > 300;
    const kind = candidate.on_front ? "front" : "dot";
    const radius = many ? (candidate.on_front ? 3.5 : 2.5) : 5;
    return svg("circle", { class: many ? `${kind} many` : kind, cx: x, cy: y, r: radius });
  }

  function ranges(i) {
    const { performance, performance_interval: wide, pbi, pbi_interval: tall } = candidates[i];
    const clip = (place, value) => place(Math.min(place.high, Math.max(place.low, value)));
    const found = [];
    if (wide) found.push(svg("line", { class: "range", x1: clip(across, wide.low), x2: clip(across, wide.high), y1: up(pbi), y2: up(pbi) }));
    if (tall) found.push(svg("line", { class: "range", x1: across(performance), x2: across(performance), y1: clip(up, tall.low), y2: clip(up, tall.high) }));
    return found;
  }

  function label(i, line, words) {
    const [x, y] = places[i];
    const leftwards = x > (MARGIN.left + across(across.high)) / 2;
    return svg(
      "text",
      { class: "point-name", x: x + (leftwards ? -16 : 16), y: y + line, "text-anchor": leftwards ? "end" : "start" },
      shortened(words, host.clientWidth < NARROW ? 22 : 34),
    );
  }

  // What is released, what is best now and what is looked at lie above all other dots.
  function show(state) {
    shown = state;
    const { best, released, picked } = state;
    const [rx, ry] = places[released];
    const parts = [
      ...ranges(picked ?? best),
      svg("path", { class: "released", d: `M${rx} ${ry - 8}l8 8-8 8-8-8z` }),
    ];
    if (best !== null) {
      const [x, y] = places[best];
      if (best !== released) parts.push(svg("circle", { class: "best", cx: x, cy: y, r: 6 }));
      parts.push(svg("circle", { class: "ring", cx: x, cy: y, r: 13 }));
      const near = best !== released && Math.hypot(rx - x, ry - y) < 40;
      parts.push(label(best, near && y > ry ? 20 : -14, candidates[best].name));
      if (best !== released) parts.push(label(released, near && y <= ry ? 24 : -14, candidates[released].name));
    }
    if (picked !== null && picked !== best) {
      const [x, y] = places[picked];
      parts.push(svg("circle", { class: "picked", cx: x, cy: y, r: 9 }));
      if (picked !== released) parts.push(label(picked, 24, candidates[picked].name));
    }
    layer.replaceChildren(...parts);
  }

  function nearest(event) {
    const picture = host.firstChild;
    const frame = picture.getBoundingClientRect();
    const size = picture.viewBox.baseVal.width / frame.width;
    const [x, y] = [(event.clientX - frame.left) * size, (event.clientY - frame.top) * size];
    let found = null;
    let least = 28;
    places.forEach(([px, py], i) => {
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

  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(host.clientWidth - width) < 2) return;
    width = host.clientWidth;
    redraw();
  }).observe(host);
  redraw();
  return { show };
}

// Dots on the same spot open like petals, so that each can be seen.
function apart(spots) {
  const groups = new Map();
  spots.forEach(([x, y], i) => {
    const key = `${Math.round(x / 2)} ${Math.round(y / 2)}`;
    groups.set(key, [...(groups.get(key) ?? []), i]);
  });
  const found = spots.slice();
  for (const group of groups.values()) {
    if (group.length < 2 || group.length > PETALS) continue;
    const radius = group.length === 2 ? 5 : 7;
    group.forEach((at, i) => {
      const turn = (2 * Math.PI * i) / group.length;
      found[at] = [spots[at][0] + radius * Math.cos(turn), spots[at][1] + radius * Math.sin(turn)];
    });
  }
  return found;
}
