// A slider along the rungs of a column. What each would cost and gain is in the table that it
// takes the place of, which stays for paper.

const withinBar = (share) => `${100 * Math.min(1, Math.max(0, share))}%`;

function startRungs(climb) {
  const rows = [...climb.querySelectorAll("tbody tr")];
  const taken = rows.findIndex((row) => row.classList.contains("taken"));
  const view = climb.querySelector(".rung-view");
  const slider = view.querySelector("input");
  const words = view.querySelector("output");

  function draw(bar, row) {
    const share = Number(row.dataset[bar.dataset.of]);
    const now = Number(rows[taken].dataset[bar.dataset.of]);
    bar.querySelector(".beyond").setAttribute("width", withinBar(share));
    bar.querySelector(".now").setAttribute("x", withinBar(Math.min(now, 0.99)));
    const [whole, change] = bar.querySelectorAll(".figure");
    whole.textContent = FIGURES.share(Math.max(0, share), 0);
    change.textContent = row === rows[taken] ? "" : FIGURES.change(share - now, 0);
  }

  function show() {
    const row = rows[Number(slider.value)];
    const [which, reading] = [row.querySelector("th"), row.querySelector(".words")];
    slider.setAttribute("aria-valuetext", `${which.textContent}: ${reading.textContent}`);
    const parts = [...reading.cloneNode(true).childNodes];
    words.replaceChildren(html("strong", {}, which.textContent), ": ", ...parts);
    words.classList.toggle("forbidden", row.classList.contains("forbidden"));
    view.querySelectorAll(".gives").forEach((bar) => draw(bar, row));
  }

  slider.max = rows.length - 1;
  slider.value = taken;
  slider.addEventListener("input", show);
  show();
  climb.classList.add("slides");
  view.hidden = false;
}
