// Sentences about a release, as elements.

const besides = (one) =>
  `attacker’s gain ${FIGURES.change(one.pbi)}, ${plural(one.size, "column")}`;

function winnerWords(best, released, worthless) {
  if (worthless) return [html("p", {}, "Give at least one factor some weight.")];
  if (!best) return [html("p", {}, "No release meets all limits.")];
  return [
    html("h4", {}, "Best for these weights"),
    html("p", { class: "winner-name" }, named(shortened(best.name, 120))),
    html("p", {}, `${FIGURES.share(best.performance)} correct predictions, ${besides(best)}.`),
    verdict(best, released),
  ];
}

function detailWords(one, columns, standing) {
  const { performance, performance_interval: wide, pbi, pbi_interval: tall } = one;
  const range = (ends, form) => (ends ? ` (${form(ends.low)} to ${form(ends.high)})` : "");
  const useful = FIGURES.share(performance) + range(wide, FIGURES.share);
  const gain = FIGURES.change(pbi) + range(tall, FIGURES.change);
  const figures = `${useful} correct predictions; attacker’s gain ${gain}; `;
  const fails = one.fails.length ? ` Breaks a limit: ${one.fails.join(", ")}.` : "";
  return [
    html("p", { class: "detail-name" }, named(one.name)),
    html("p", {}, ...columnWords(one, columns)),
    html("p", {}, figures, plural(one.size, "column"), "; found by ", named(one.method), "."),
    html("p", { class: "soft" }, standing, fails),
  ];
}

// The columns of a release whose name does not list them.
function columnWords(one, columns) {
  const names = one.features.map((f) => columns[f]);
  if (names.length === 0 || one.name === names.join(" + ")) return [];
  const most = 24;
  const shown = names.slice(0, most).flatMap((name, i) => [i ? ", " : "Columns: ", named(name)]);
  return [...shown, names.length > most ? ` and ${FIGURES.count(names.length - most)} more.` : "."];
}

function cautionWords(caution, { sensitive }) {
  const name = shortened(sensitive ?? "", 40);
  if (caution === 0) return `What is told about ${name} does not count.`;
  const more = Number(caution.toFixed(2));
  return `A release that tells 1% more about ${name} must keep ${more}% more to be preferred.`;
}

// A share told only where something was found.
const toldOf = (one) => (one.told > 0 ? `tells ${FIGURES.share(one.told)}` : "not found to tell anything");

const keepsAndTells = (one, { tells }) =>
  `Keeps ${FIGURES.share(one.kept)}` + (tells ? `, ${toldOf(one)}` : "") +
  `, ${plural(one.size, "column")}.`;

function worthWinner(candidates, { best, released }, bits) {
  if (best === null) return [html("p", {}, "No release meets all limits.")];
  const one = candidates[best];
  return [
    html("h4", {}, bits.tells ? "Best for this caution" : "Best"),
    html("p", { class: "winner-name" }, named(shortened(one.name, 120))),
    html("p", {}, keepsAndTells(one, bits)),
    verdict(one, candidates[released]),
  ];
}

function verdict(best, released) {
  if (best === released) return html("p", { class: "verdict same" }, "This is what was released.");
  const other = named(shortened(released.name, 80));
  return html("p", { class: "verdict" }, "What was released: ", other, ".");
}

// What another release would cost, measured against the one that is out.
function againstReleased(one, released, { tells }) {
  if (one === released) return "This is what was released.";
  const step = (value, other) => FIGURES.change(value - other);
  const told = tells ? `, tells ${step(one.told, released.told)}` : "";
  const more = one.size - released.size;
  const columns = more === 0 ? "as many columns" : `${plural(Math.abs(more), "column")} ${more > 0 ? "more" : "fewer"}`;
  return `Against what was released: keeps ${step(one.kept, released.kept)}${told}, ${columns}.`;
}

function worthDetail(one, released, bits, columns, standing) {
  const range = (ends) =>
    ends && ends.low < ends.high ? ` (${FIGURES.share(ends.low)} to ${FIGURES.share(ends.high)})` : "";
  const told = bits.tells ? `; ${toldOf(one)}${one.told > 0 ? range(one.told_interval) : ""}` : "";
  const broken = one.fails.length ? ` Breaks a limit: ${one.fails.join(", ")}.` : "";
  return [
    html("p", { class: "detail-name" }, named(one.name)),
    html("p", {}, ...columnWords(one, columns)),
    html("p", {}, `Keeps ${FIGURES.share(one.kept)}${range(one.kept_interval)}${told}; `,
      plural(one.size, "column"), "; found by ", named(one.method), "."),
    html("p", {}, againstReleased(one, released, bits)),
    html("p", { class: "soft" }, standing, broken),
  ];
}
