// E(S) as tamis.choose computes it in Python: the same steps in the same order of additions, so
// that both give the same digits.

const ROUNDING = 1e-9; // numbers that differ by no more than this share of the largest are equal
const NEAR_ONE = 0.005; // weights whose sum is this near to one are used as they are

function levels(values) {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b] || a - b);
  const same = ROUNDING * values.reduce((most, v) => Math.max(most, Math.abs(v)), 0);
  const found = new Array(values.length);
  let level = 0;
  order.forEach((at, i) => {
    if (i > 0 && values[at] - values[order[i - 1]] > same) level += 1;
    found[at] = level;
  });
  return found;
}

// One more than the number of candidates that are strictly worse.
function ranked(values, direction) {
  const good = levels(direction === "max" ? values : values.map((v) => -v));
  const below = [0];
  const counts = [];
  for (const level of good) counts[level] = (counts[level] || 0) + 1;
  counts.forEach((count, level) => (below[level + 1] = below[level] + count));
  return good.map((level) => 1 + below[level]);
}

function sharesOf(weights) {
  const total = weights.reduce((sum, w) => sum + w, 0);
  return Math.abs(total - 1) <= NEAR_ONE ? weights.slice() : weights.map((w) => w / total);
}

function weighted(ranks, shares) {
  const total = new Array(ranks[0].length).fill(0);
  ranks.forEach((column, f) => column.forEach((rank, i) => (total[i] += shares[f] * rank)));
  return total;
}

// From the largest sum to the smallest; among equals the fewest features, then the first.
function ordered(scores, sizes) {
  const level = levels(scores);
  return scores
    .map((_, i) => i)
    .sort((a, b) => level[b] - level[a] || sizes[a] - sizes[b] || a - b);
}

function evaluation(columns, directions, weights, sizes) {
  const ranks = columns.map((values, f) => ranked(values, directions[f]));
  const shares = sharesOf(weights);
  const scores = weighted(ranks, shares);
  return { ranks, shares, scores, order: ordered(scores, sizes) };
}
