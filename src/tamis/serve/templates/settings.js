// What the settings mean, in words, as they change.
for (const input of document.querySelectorAll("[data-says]")) {
  const line = document.querySelector(`[data-of="${input.id}"]`);
  if (line) {
    input.addEventListener("input", () => {
      const value = input.value.trim();
      line.textContent = value ? input.dataset.says.replace("{}", value) : input.dataset.unset;
      line.classList.toggle("soft", !value);
      line.hidden = !value && "more" in line.dataset;
    });
  }
}

// Attackers are rows of a form: one more is a copy of the last, empty. In words they are the lines
// of a command.
const attackers = document.querySelector("[data-attackers]");
if (attackers) {
  const line = document.querySelector(`[data-of="${attackers.id}"]`);
  const another = document.getElementById("another");
  another.hidden = false;
  another.addEventListener("click", () => {
    const rows = attackers.querySelectorAll("[data-who]");
    const last = rows[rows.length - 1];
    const copy = last.cloneNode(true);
    for (const part of copy.querySelectorAll("[id], [for], [name]")) {
      for (const key of ["id", "for", "name"]) {
        const said = part.getAttribute(key);
        if (said) part.setAttribute(key, said.replace(`who-${rows.length - 1}-`, `who-${rows.length}-`));
      }
      if (part.type === "checkbox") part.checked = false;
      else if (part.tagName === "INPUT") part.value = "";
    }
    copy.querySelector("legend").textContent = "Somebody else";
    last.after(copy);
    copy.querySelector("input").focus();
  });
  attackers.addEventListener("input", () => {
    const every = [...attackers.querySelectorAll("[data-who]")].map(inOneLine);
    const said = every.filter(Boolean).join("\n");
    line.textContent = said ? attackers.dataset.rows.replace("{}", said) : attackers.dataset.unset;
    line.classList.toggle("soft", !said);
    line.hidden = !said && "more" in line.dataset;
  });
}

function inOneLine(row) {
  const of = (part) => row.querySelector(`[name$="-${part}"]`).value.trim();
  const ticked = (part) => {
    const boxes = row.querySelectorAll(`[name$="-${part}"]:checked`);
    return [...boxes].map((box) => box.value).join(", ");
  };
  const name = of("name");
  if (!name) return "";
  const parts = [
    ticked("knows") && `knows ${ticked("knows")}`,
    ticked("wants") && `wants ${ticked("wants")}`,
    of("k") && `k=${of("k")}`,
    of("l") && `l=${of("l")}`,
    of("told") && `max_told=${Number(of("told")) / 100}`,
    of("more"),
  ];
  return `${name}: ${parts.filter(Boolean).join("; ")}`;
}
