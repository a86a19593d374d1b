// Roles: one target and one weight at most, and a line that says what was chosen.
const form = document.getElementById("columns-form");
if (form) {
  const selects = [...form.querySelectorAll("table.roles select")];
  const tally = document.getElementById("tally");
  const words = { target: "target", sensitive: "secret", quasi: "known", identifier: "name", feature: "ordinary", weight: "weight", drop: "left out" };
  const single = ["target", "weight"];

  function count() {
    const parts = Object.entries(words).map(([role, word]) => {
      const amount = selects.filter((s) => s.value === role).length;
      return amount ? `${amount} ${word}` : "";
    });
    const none = selects.some((s) => s.value === "sensitive") ? "" : " No column is the secret, so the target must stay hard to guess.";
    tally.textContent = `${parts.filter(Boolean).join(", ")}.${none}`;
    tally.hidden = false;
  }

  function paint(select) {
    select.closest("tr").className = `role-${select.value}`;
  }

  for (const select of selects) {
    select.addEventListener("change", () => {
      if (single.includes(select.value)) {
        for (const other of selects) {
          if (other !== select && other.value === select.value) {
            other.value = "quasi";
            paint(other);
          }
        }
      }
      paint(select);
      count();
    });
  }
  count();

  // Wide tables: find columns by a part of their name, question or kind, and set them together.
  const search = document.getElementById("search");
  const shown = document.getElementById("shown-columns");
  const rows = selects.map((s) => s.closest("tr"));

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.dataset.words.toLowerCase().includes(wanted);
    const amount = rows.filter((row) => !row.hidden).length;
    shown.textContent = wanted ? `${amount} of ${rows.length} columns` : "";
  }

  search.addEventListener("input", filter);
  // Return must not send the form while somebody is looking for a column.
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  // Target, secret and weight were chosen one by one, and are changed one by one.
  const chosen = ["target", "sensitive", "weight"];
  const undo = document.getElementById("undo-all");
  let before = [];

  function setRoles(roles) {
    for (const [select, role] of roles) {
      select.value = role;
      paint(select);
    }
    count();
    form.dispatchEvent(new Event("change"));
  }

  document.getElementById("set-all").addEventListener("click", () => {
    const role = document.getElementById("all-are").value;
    const some = selects.filter((s) => !s.closest("tr").hidden && !chosen.includes(s.value));
    before = some.map((s) => [s, s.value]);
    setRoles(some.map((s) => [s, role]));
    undo.hidden = !some.length;
  });
  undo.addEventListener("click", () => {
    setRoles(before);
    undo.hidden = true;
    document.getElementById("set-all").focus();
  });
  document.getElementById("bulk").hidden = false;
}
