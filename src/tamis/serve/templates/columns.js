// Roles: one target and one secret at most, and a line that says what was chosen.
const form = document.getElementById("columns-form");
if (form) {
  const selects = [...form.querySelectorAll("select")];
  const tally = document.getElementById("tally");
  const words = { target: "target", sensitive: "secret", quasi: "known", identifier: "name", feature: "ordinary", drop: "left out" };

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
      if (["target", "sensitive"].includes(select.value)) {
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
}
