// Coarser forms of a column: counted when they are opened, and again while they are edited, by hand
// or as text. Whatever is set by hand is written as text, and the text is what is sent.
const numbers = (text) => text.split(/[,;\s]+/).filter(Boolean).map(Number);
const quoted = (text) => JSON.stringify(text); // every JSON string is one of TOML, too

function numberLadder(part) {
  const widths = numbers(part("width").value);
  const ends = ["bottom", "top"].filter((end) => part(end).value.trim());
  const given = ends.map((end) => `${end} = ${part(end).value.trim()}`);
  return widths.length ? `{ ${[`width = [${widths.join(", ")}]`, ...given].join(", ")} }` : "";
}

function dateLadder(parts) {
  const units = parts("dates").filter((box) => box.checked).map((box) => quoted(box.value));
  return units.length ? `{ dates = [${units.join(", ")}] }` : "";
}

function textLadder(part, names) {
  const kept = numbers(part("keep").value);
  if (kept.length) return `{ keep = [${kept.join(", ")}] }`;
  const groups = new Map();
  for (const { value, name } of names) {
    if (name) groups.set(name, [...(groups.get(name) ?? []), quoted(value)]);
  }
  if (!groups.size) return "";
  const listed = [...groups].map(([name, values]) => `${quoted(name)} = [${values.join(", ")}]`);
  return `{ groups = { ${listed.join(", ")} }, unlisted = "other" }`;
}

for (const details of document.querySelectorAll("[data-ladder]")) {
  const shown = details.querySelector(".levels");
  const text = details.querySelector("textarea");
  const hand = details.querySelector(".by-hand");
  const parts = (name) => [...hand.querySelectorAll(`[data-part=${name}]`)];
  const part = (name) => parts(name)[0];
  let waiting;
  let asked = 0;

  function say(words, wrong) {
    shown.textContent = words;
    shown.classList.toggle("wrong", wrong);
    text.setAttribute("aria-invalid", wrong);
  }

  async function look() {
    const mine = ++asked;
    if (!shown.hasChildNodes()) say("Counting …", false);
    try {
      const answer = await fetch(details.dataset.ladder, {
        method: "POST",
        headers: { "X-Tamis-Form": document.body.dataset.form },
        body: new URLSearchParams(new FormData(text.form)),
      });
      const page = answer.headers.get("content-type").startsWith("text/html");
      const words = page ? await answer.text() : (await answer.json()).error;
      if (mine !== asked) return; // something newer was typed meanwhile
      say(words, !page);
      // A page of our own, in which every name and value has been made text.
      if (page) shown.innerHTML = words;
    } catch {
      say("The server does not answer. Is tamis still running?", true);
    }
  }

  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(look, 600);
  }

  function byHand() {
    const names = parts("group").map((field) => ({ value: field.dataset.value, name: field.value.trim() }));
    const kinds = { number: () => numberLadder(part), date: () => dateLadder(parts) };
    return (kinds[hand.dataset.kind] ?? (() => textLadder(part, names)))();
  }

  hand.hidden = false;
  hand.addEventListener("input", () => {
    text.value = byHand();
    soon();
  });
  text.addEventListener("input", soon);
  details.addEventListener("toggle", () => {
    if (details.open && !shown.hasChildNodes()) look();
  });
  details.querySelector("[data-check]").addEventListener("click", look);
  shown.addEventListener("click", (event) => {
    const begin = event.target.closest("[data-begin]");
    if (!begin) return;
    text.value = begin.dataset.begin;
    text.focus();
  });
}
