// Which release wins for which weights. Scores are linear in the weights, so the weights for which
// a release wins are a convex patch: the triangle of all weights, cut by one line for each rival.

// Whoever has no rank above those of a rival that also wins ties can never win.
function contenders(ranks, sizes, allowed) {
  const order = [...allowed].sort((a, b) => sizes[a] - sizes[b] || a - b);
  const found = [];
  for (const one of order) {
    const beaten = (other) => ranks.every((column) => column[other] >= column[one]);
    if (!found.some(beaten)) found.push(one);
  }
  return found;
}

// The part of a patch where the first of two releases scores at least as much as the second.
function cut(patch, gain) {
  const lead = patch.map((corner) => sumOf(corner.weights.map((w, f) => w * gain[f])));
  const found = [];
  patch.forEach((corner, i) => {
    const next = (i + 1) % patch.length;
    if (lead[i] >= 0) found.push(corner);
    if (lead[i] >= 0 !== lead[next] >= 0) {
      found.push(between(corner, patch[next], lead[i] / (lead[i] - lead[next])));
    }
  });
  return found;
}

function between(one, other, share) {
  const mix = (a, b) => a + (b - a) * share;
  const weights = one.weights.map((w, f) => mix(w, other.weights[f]));
  return { x: mix(one.x, other.x), y: mix(one.y, other.y), weights };
}

// The area of a patch, and the point on which it would balance.
function balance(patch) {
  const [x0, y0] = [patch[0].x, patch[0].y];
  let [twice, x, y] = [0, 0, 0];
  for (let i = 1; i + 1 < patch.length; i += 1) {
    const [a, b] = [patch[i], patch[i + 1]];
    const part = (a.x - x0) * (b.y - y0) - (b.x - x0) * (a.y - y0);
    twice += part;
    x += (part * (x0 + a.x + b.x)) / 3;
    y += (part * (y0 + a.y + b.y)) / 3;
  }
  return { area: Math.abs(twice) / 2, middle: [x / twice, y / twice] };
}

function winningPatches(whole, ranks, sizes, allowed) {
  const rivals = contenders(ranks, sizes, allowed);
  const all = balance(whole).area;
  const found = [];
  for (const one of rivals) {
    let patch = whole;
    for (const other of rivals) {
      if (patch.length < 3) break;
      if (other !== one) patch = cut(patch, ranks.map((column) => column[one] - column[other]));
    }
    const share = patch.length < 3 ? 0 : balance(patch).area / all;
    if (share > 1e-6) found.push({ candidate: one, patch, share });
  }
  return found.sort((a, b) => b.share - a.share || a.candidate - b.candidate);
}
