// Sentences about a release, as elements.

const besides = (one) =>
  `attacker’s gain ${FIGURES.change(one.pbi)}, ${plural(one.size, "column")}`;

function winnerWords(best, released, worthless) {
  if (worthless) return [html("p", {}, "Give at least one factor some weight.")];
  if (!best) return [html("p", {}, "No release meets all limits.")];
  const other = named(shortened(released.name, 80));
  return [
    html("h4", {}, "Best for these weights"),
    html("p", { class: "winner-name" }, named(shortened(best.name, 120))),
    html("p", {}, `${FIGURES.share(best.performance)} correct predictions, ${besides(best)}.`),
    best === released
      ? html("p", { class: "verdict same" }, "This is what was released.")
      : html("p", { class: "verdict" }, "What was released: ", other, "."),
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
  const most = 60;
  const shown = names.slice(0, most).flatMap((name, i) => [i ? ", " : "Columns: ", named(name)]);
  return [...shown, names.length > most ? ` and ${names.length - most} more.` : "."];
}
