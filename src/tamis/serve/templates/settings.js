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
