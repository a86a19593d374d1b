// Small hands for drawing: elements, scales, and numbers as figures.py writes them.

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

// A name from the table stays text, and its writing direction stays its own.
const named = (text) => html("bdi", { class: "name" }, text);

const shortened = (text, most) => {
  const signs = Array.from(text);
  return signs.length <= most ? text : signs.slice(0, most - 1).join("") + "…";
};

const minus = (text) => text.replace("-", "−");

const FIGURES = {
  share: (value) => minus((100 * value).toFixed(1)) + "%",
  change: (value) => {
    const text = (100 * value).toFixed(1);
    if (Number(text) === 0) return "0.0%";
    return minus((value > 0 ? "+" : "") + text) + "%";
  },
  count: (value) => minus(Math.round(value).toLocaleString("en-US")),
  number: (value) => minus(String(Number(value.toPrecision(3)))),
};

const plural = (amount, one, many = one + "s") =>
  `${FIGURES.count(amount)} ${amount === 1 ? one : many}`;

function linear(low, high, start, stop) {
  const place = (value) => start + ((value - low) / (high - low)) * (stop - start);
  place.low = low;
  place.high = high;
  return place;
}

function ticks(low, high, about) {
  const raw = (high - low) / about;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = unit * [1, 2, 2.5, 5, 10].find((m) => m * unit >= raw * 0.999);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i <= Math.floor(high / step + 1e-9); i += 1) {
    found.push(i * step);
  }
  return { values: found, digits: Math.max(0, Math.ceil(-Math.log10(step * 100) - 1e-9) + (step / unit === 2.5 ? 1 : 0)) };
}

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
