// Small helpers for drawing: elements, scales, and numbers as figures.py writes them.

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null));
  return element;
}

const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS(SVG, tag), attributes, children);

const html = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);

const word = (kind, x, y, anchor, text) =>
  svg("text", { class: kind, x, y, "text-anchor": anchor }, text);

const stroke = (kind, [x1, y1], [x2, y2]) => svg("line", { class: kind, x1, y1, x2, y2 });

const disc = (kind, [cx, cy], r) => svg("circle", { class: kind, cx, cy, r });

// A name from the table stays text, and its writing direction does not affect its surroundings.
const named = (text) => html("bdi", { class: "name" }, text);

const figure = (text) => html("span", { class: "figure" }, text);

const shortened = (text, most) => {
  const signs = Array.from(text);
  return signs.length <= most ? text : signs.slice(0, most - 1).join("") + "…";
};

const minus = (text) => text.replace("-", "−");

const FIGURES = {
  share: (value, digits = 1) => {
    const least = 10 ** -(digits + 2);
    if (value > 0 && value < least) return `<${(100 * least).toFixed(digits)}%`;
    return minus((100 * value).toFixed(digits)) + "%";
  },
  change: (value, digits = 1) => {
    const text = (100 * value).toFixed(digits);
    if (Number(text) === 0) return text.replace("-", "") + "%";
    return minus((value > 0 ? "+" : "") + text) + "%";
  },
  count: (value) => minus(Math.round(value).toLocaleString("en-US")),
};

const plural = (amount, one, many = one + "s") =>
  `${FIGURES.count(amount)} ${amount === 1 ? one : many}`;

const sumOf = (values) => values.reduce((sum, value) => sum + value, 0);

function linear(low, high, start, stop) {
  const place = (value) => start + ((value - low) / (high - low)) * (stop - start);
  return Object.assign(place, { low, high, start, stop });
}

// Each power of ten takes as much room as the one before; zero has a place too.
function logarithmic(high, start, stop) {
  const first = start + 0.03 * (stop - start);
  const place = (value) => first + (Math.log1p(value) / Math.log1p(high)) * (stop - first);
  const values = [0];
  for (let power = 1; power <= high; power *= 10) values.push(power);
  return Object.assign(place, { low: 0, high, start, stop, values });
}

// Round values inside a scale, and the digits that they need as percentages.
function ticks({ low, high }, about) {
  const raw = (high - low) / about;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const times = [1, 2, 2.5, 5, 10].find((m) => m * unit >= raw * 0.999);
  const step = times * unit;
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i += 1) {
    values.push(i * step + 0); // never -0
  }
  const digits = Math.ceil(-Math.log10(100 * step) - 1e-9) + (times === 2.5 ? 1 : 0);
  return { values, digits: Math.max(0, digits) };
}

// The least and the largest value with some air, never a single point.
function around(values, margin) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const air = (high - low) * margin || Math.abs(high) * margin || 0.01;
  return [low - air, high + air];
}
