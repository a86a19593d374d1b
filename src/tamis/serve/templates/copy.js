// Buttons that copy what an element says, also those that come into the page later.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const words = (button.dataset.words ??= button.textContent);
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source);
    button.textContent = "Press Ctrl-C";
  }
  setTimeout(() => (button.textContent = words), 2000);
});
