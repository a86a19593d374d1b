// Buttons that copy what an element says.
for (const button of document.querySelectorAll("[data-copy]")) {
  const words = button.textContent;
  button.addEventListener("click", async () => {
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
}
