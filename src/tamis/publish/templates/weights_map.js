// Which release wins for which weights. Scores are linear in the weights, so the weights for which
// a release wins are a convex patch: the triangle of all weights, cut by one line for each rival.

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

// Whoever has no rank above those of a rival that also wins ties can never win.
function contenders(ranks, sizes, allowed) {
  const order = [...allowed].sort((a, b) => sizes[a] - sizes[b] || a - b);
  const found = [];
  for (const one of order) {
    if (!found.some((other) => ranks.every((column) => column[other] >= column[one]))) found.push(one);
  }
  return found;
}

// The part of a patch where the first of two releases scores at least as much as the second.
function cut(patch, gain) {
  const lead = patch.map((corner) => corner.weights.reduce((sum, w, f) => sum + w * gain[f], 0));
  const found = [];
  patch.forEach((corner, i) => {
    const next = (i + 1) % patch.length;
    if (lead[i] >= 0) found.push(corner);
    if (lead[i] >= 0 !== lead[next] >= 0) found.push(between(corner, patch[next], lead[i] / (lead[i] - lead[next])));
  });
  return found;
}

function between(one, other, share) {
  const mix = (a, b) => a + (b - a) * share;
  return { x: mix(one.x, other.x), y: mix(one.y, other.y), weights: one.weights.map((w, f) => mix(w, other.weights[f])) };
}

function area(patch) {
  const twice = patch.reduce((sum, a, i) => {
    const b = patch[(i + 1) % patch.length];
    return sum + a.x * b.y - b.x * a.y;
  }, 0);
  return Math.abs(twice) / 2;
}

// The point on which a patch would balance.
function middle(patch) {
  const [x0, y0] = [patch[0].x, patch[0].y];
  let [sum, x, y] = [0, 0, 0];
  for (let i = 1; i + 1 < patch.length; i += 1) {
    const [a, b] = [patch[i], patch[i + 1]];
    const twice = (a.x - x0) * (b.y - y0) - (b.x - x0) * (a.y - y0);
    sum += twice;
    x += (twice * (x0 + a.x + b.x)) / 3;
    y += (twice * (y0 + a.y + b.y)) / 3;
  }
  return [x / sum, y / sum];
}

function winningPatches(whole, ranks, sizes, allowed) {
  const rivals = contenders(ranks, sizes, allowed);
  const all = area(whole);
  const found = [];
  for (const one of rivals) {
    let patch = whole;
    for (const other of rivals) {
      if (other === one || patch.length < 3) continue;
      patch = cut(patch, ranks.map((column) => column[one] - column[other]));
    }
    const share = patch.length < 3 ? 0 : area(patch) / all;
    if (share > 1e-6) found.push({ candidate: one, patch, share });
  }
  return found.sort((a, b) => b.share - a.share || a.candidate - b.candidate);
}

// The first three factors span the map; further ones keep the weight that they have now.
function makeMap(host, table, words, candidates, factors, ranks, sizes, allowed, hooks) {
  const corners = Math.min(3, factors.length);
  let drawn = "";
  let patches = [];
  let frame = null;

  function shape(width, height, rest) {
    const free = 1 - rest.reduce((sum, w) => sum + w, 0);
    const spots = corners === 3
      ? [[width / 2, 30], [14, height - 34], [width - 14, height - 34]]
      : [[8, 30], [width - 8, 30]];
    const weights = (at) => factors.map((_, f) => (f < 3 ? (f === at ? free : 0) : rest[f - 3]));
    const found = spots.map(([x, y], at) => ({ x, y, weights: weights(at) }));
    if (corners === 2) {
      const [left, right] = found;
      found.push({ ...right, y: height - 34 }, { ...left, y: height - 34 });
    }
    return found;
  }

  function redraw(state) {
    const width = Math.max(220, Math.round(host.clientWidth));
    const height = corners === 3 ? Math.round(width * 0.82) + 20 : 120;
    frame = shape(width, height, state.shares.slice(3));
    patches = winningPatches(frame, ranks, sizes, allowed);
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Which release wins for which weights; the table beside it holds the same." });
    picture.append(
      ...patches.map(({ candidate, patch }, i) =>
        svg("polygon", { class: `patch tone-${i % 4}`, "data-candidate": candidate, points: patch.map((c) => `${c.x.toFixed(2)},${c.y.toFixed(2)}`).join(" ") })),
      ...patches.filter((p, i) => p.share > 0.012 && i < LETTERS.length).map((p, i) => letter(p, LETTERS[i])),
      ...names(width, height),
      svg("circle", { class: "here", r: 7 }),
    );
    listen(picture);
    host.replaceChildren(picture);
    list();
  }

  function letter({ candidate, patch }, text) {
    const [x, y] = middle(patch);
    return svg("text", { class: "letter", "data-candidate": candidate, x, y: y + 5, "text-anchor": "middle" }, text);
  }

  function names(width, height) {
    const spots = corners === 3
      ? [[width / 2, 18, "middle"], [2, height - 12, "start"], [width - 2, height - 12, "end"]]
      : [[8, 18, "start"], [width - 8, 18, "end"]];
    return spots.map(([x, y, anchor], f) => svg("text", { class: "corner", x, y, "text-anchor": anchor }, shortened(factors[f].label, 22)));
  }

  function list() {
    const most = 8;
    const seen = patches.filter((p) => p.share >= 0.0005);
    const rows = seen.slice(0, most).map(({ candidate, share }, i) =>
      html("tr", { "data-candidate": candidate },
        html("td", { class: "letter-cell" }, LETTERS[i]),
        html("td", {}, named(shortened(candidates[candidate].name, 60))),
        html("td", { class: "number" }, html("span", { class: "figure" }, FIGURES.share(share)))));
    const others = seen.slice(most);
    if (others.length) {
      const share = others.reduce((sum, p) => sum + p.share, 0);
      rows.push(html("tr", {}, html("td"), html("td", { class: "soft" }, plural(others.length, "other")), html("td", { class: "number" }, FIGURES.share(share))));
    }
    table.tBodies[0].replaceChildren(...rows);
  }

  function show(state) {
    const key = [host.clientWidth, ...state.shares.slice(3)].join(" ");
    if (key !== drawn) {
      redraw(state);
      drawn = key;
    }
    const near = state.shares.slice(0, 3);
    const sum = near.reduce((total, w) => total + w, 0) || 1;
    const at = (of) => frame.slice(0, corners).reduce((total, corner, f) => total + (corner[of] * near[f]) / sum, 0);
    const here = host.querySelector(".here");
    here.setAttribute("cx", at("x"));
    here.setAttribute("cy", corners === 3 ? at("y") : (frame[0].y + frame[2].y) / 2);
    for (const part of [...host.querySelectorAll("[data-candidate]"), ...table.querySelectorAll("[data-candidate]")]) {
      part.classList.toggle("now", Number(part.dataset.candidate) === state.best);
    }
  }

  // Where the pointer is, as weights of the corners.
  function weightsAt(event) {
    const picture = host.firstChild;
    const box = picture.getBoundingClientRect();
    const size = picture.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * size, (event.clientY - box.top) * size];
    if (corners === 2) {
      const right = (x - frame[0].x) / (frame[1].x - frame[0].x);
      return [1 - right, right].map((w) => Math.min(1, Math.max(0, w)));
    }
    const [a, b, c] = frame;
    const all = (b.y - c.y) * (a.x - c.x) + (c.x - b.x) * (a.y - c.y);
    const first = ((b.y - c.y) * (x - c.x) + (c.x - b.x) * (y - c.y)) / all;
    const second = ((c.y - a.y) * (x - c.x) + (a.x - c.x) * (y - c.y)) / all;
    const found = [first, second, 1 - first - second].map((w) => Math.max(0, w));
    const sum = found.reduce((total, w) => total + w, 0);
    return found.map((w) => w / sum);
  }

  function listen(picture) {
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      hooks.weigh(weightsAt(event));
    });
    picture.addEventListener("pointermove", (event) => {
      if (event.buttons) hooks.weigh(weightsAt(event));
    });
  }

  words.textContent = corners === 3
    ? "Each corner is the weight on one thing alone, the middle is the same weight on all three."
    : "From all the weight on one thing to all of it on the other.";
  return { show, patches: () => patches };
}
