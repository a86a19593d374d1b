// The map of all weights: a triangle for three factors, a band for two. Further factors keep the
// weight that they have now.

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LISTED = 8;
const MAP_WORDS = "Which release wins for which weights; the table beside it shows the same.";
const MAP_INTROS = {
  2: "From all the weight on one factor to all of it on the other.",
  3: "Each corner puts all the weight on one factor; the middle weighs all three equally.",
};

// `contest` holds the releases with their ranks and sizes, and which of them may win.
function makeMap({ host, table, intro }, contest, factors, hooks) {
  const { candidates, ranks, sizes, allowed } = contest;
  const corners = Math.min(3, factors.length);
  let drawn = "";
  let patches = [];
  let frame = [];

  // The corners of the map, each with the weights that it stands for.
  function outline(width, height, rest) {
    const free = 1 - sumOf(rest);
    const foot = height - 34;
    const spots = corners === 3
      ? [[width / 2, 30], [14, foot], [width - 14, foot]]
      : [[8, 30], [width - 8, 30], [width - 8, foot], [8, foot]];
    const owner = corners === 3 ? [0, 1, 2] : [0, 1, 1, 0];
    return spots.map(([x, y], i) => {
      const weights = factors.map((_, f) => (f >= 3 ? rest[f - 3] : f === owner[i] ? free : 0));
      return { x, y, weights };
    });
  }

  function redraw(shares) {
    const width = Math.max(220, Math.round(host.clientWidth));
    const height = corners === 3 ? Math.round(width * 0.82) + 20 : 120;
    frame = outline(width, height, shares.slice(3));
    patches = winningPatches(frame, ranks, sizes, allowed);
    const lettered = patches.slice(0, LETTERS.length).map((p, i) => [p, LETTERS[i]]);
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": MAP_WORDS },
      ...patches.map(area),
      ...lettered.filter(([p]) => p.share > 0.012).map(([p, text]) => letter(p, text)),
      ...cornerNames(width, height),
      svg("circle", { class: "here", r: 7 }),
    );
    listen(picture);
    host.replaceChildren(picture);
    table.tBodies[0].replaceChildren(...rows());
  }

  function area({ candidate, patch }, i) {
    const points = patch.map((c) => `${c.x.toFixed(2)},${c.y.toFixed(2)}`).join(" ");
    return svg("polygon", { class: `patch tone-${i % 4}`, "data-candidate": candidate, points });
  }

  function letter({ candidate, patch }, text) {
    const [x, y] = balance(patch).middle;
    const found = word("letter", x, y + 5, "middle", text);
    found.dataset.candidate = candidate;
    return found;
  }

  function cornerNames(width, height) {
    const spots = corners === 3
      ? [[width / 2, 18, "middle"], [2, height - 12, "start"], [width - 2, height - 12, "end"]]
      : [[8, 18, "start"], [width - 8, 18, "end"]];
    return spots.map(([x, y, anchor], f) =>
      word("corner", x, y, anchor, shortened(factors[f].label, width < 300 ? 16 : 22)));
  }

  function rows() {
    const seen = patches.filter((p) => p.share >= 0.0005);
    const row = (mark, name, share, marks = {}) =>
      html("tr", marks, html("td", { class: "letter-cell" }, mark), html("td", {}, name),
        html("td", { class: "number" }, figure(FIGURES.share(share))));
    const found = seen.slice(0, LISTED).map(({ candidate, share }, i) => {
      const name = named(shortened(candidates[candidate].name, 60));
      return row(LETTERS[i], name, share, { "data-candidate": candidate });
    });
    const others = seen.slice(LISTED);
    if (others.length) {
      found.push(row("", plural(others.length, "other"), sumOf(others.map((p) => p.share))));
    }
    return found;
  }

  function show({ shares, best }) {
    const key = [host.clientWidth, ...shares.slice(3)].join(" ");
    if (key !== drawn) {
      redraw(shares);
      drawn = key;
    }
    const near = shares.slice(0, corners);
    const sum = sumOf(near) || 1;
    const at = (of) => sumOf(near.map((w, f) => (frame[f][of] * w) / sum));
    const here = host.querySelector(".here");
    here.setAttribute("cx", at("x"));
    here.setAttribute("cy", corners === 3 ? at("y") : (frame[0].y + frame[2].y) / 2);
    for (const place of [host, table]) {
      for (const part of place.querySelectorAll("[data-candidate]")) {
        part.classList.toggle("now", Number(part.dataset.candidate) === best);
      }
    }
  }

  // Where the pointer is, as weights of the corners.
  function weightsAt(event) {
    const picture = host.firstChild;
    const box = picture.getBoundingClientRect();
    const size = picture.viewBox.baseVal.width / box.width;
    const [x, y] = [(event.clientX - box.left) * size, (event.clientY - box.top) * size];
    const [a, b, c] = frame;
    if (corners === 2) {
      const right = Math.min(1, Math.max(0, (x - a.x) / (b.x - a.x)));
      return [1 - right, right];
    }
    const all = (b.y - c.y) * (a.x - c.x) + (c.x - b.x) * (a.y - c.y);
    const first = ((b.y - c.y) * (x - c.x) + (c.x - b.x) * (y - c.y)) / all;
    const second = ((c.y - a.y) * (x - c.x) + (a.x - c.x) * (y - c.y)) / all;
    const found = [first, second, 1 - first - second].map((w) => Math.max(0, w));
    return found.map((w) => w / sumOf(found));
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

  intro.textContent = MAP_INTROS[corners];
  return { show, patches: () => patches };
}
