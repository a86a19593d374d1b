// Any column by a part of its name, where there are too many to list: what became of it, and why.

const MOST_FOUND = 12;

// Those whose name begins with what is looked for come first.
function columnsNamed(text, columns) {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const at = columns.map(([name], i) => [name.toLowerCase().indexOf(wanted), i]);
  const found = at.filter(([place]) => place >= 0);
  found.sort(([one, i], [other, j]) => Math.min(one, 1) - Math.min(other, 1) || i - j);
  return found.map(([, i]) => columns[i]);
}

function sharesBar(what, alone, beyond) {
  const rect = (kind, share) =>
    svg("rect", { class: kind, height: "100%", width: withinBar(share), rx: 2 });
  const adds = beyond === null ? [] : [rect("beyond", beyond)];
  const bars = svg("svg", { "aria-hidden": "true" }, rect("rail", 1), rect("alone", alone), ...adds);
  const none = what === "tells" && alone <= 0;
  const figures = [none ? "none found" : FIGURES.share(alone, 0), ...adds.map(() => FIGURES.change(beyond, 0))];
  const words = html("span", { class: "what" }, what);
  return html("span", { class: `gives ${what}` }, words, bars, ...figures.map(figure));
}

function foundColumn([name, leaves, why, shares], reasons) {
  const [teaches, more, tells, told] = shares ?? [null, null, null, null];
  const bars = [
    teaches === null ? null : sharesBar("teaches", teaches, more),
    tells === null ? null : sharesBar("tells", tells, told),
  ];
  const fate = html("span", { class: "fate" }, leaves ? "leaves" : "stays");
  return html("li", {}, named(name), " ", fate, html("p", { class: "under" }, reasons[why]), ...bars);
}

function startFinder(finder, { reasons, columns }) {
  const [input, words, list] = ["input", "p", "ul"].map((tag) => finder.querySelector(tag));

  function show() {
    const found = columnsNamed(input.value, columns);
    const few = found.slice(0, MOST_FOUND);
    list.replaceChildren(...few.map((column) => foundColumn(column, reasons)));
    const first = found.length > few.length ? `The first ${few.length} of ` : "";
    const none = input.value.trim() ? "No column that was compared has such a name." : "";
    words.textContent = found.length ? first + plural(found.length, "column") : none;
  }

  input.addEventListener("input", show);
  finder.hidden = false;
  show();
}
