// Coarser forms of a column: counted when they are opened, and again when they were edited.
for (const details of document.querySelectorAll("[data-ladder]")) {
  const shown = details.querySelector(".levels");
  const text = details.querySelector("textarea");

  function say(words, wrong) {
    shown.textContent = words;
    shown.classList.toggle("wrong", wrong);
    text.setAttribute("aria-invalid", wrong);
  }

  async function look() {
    say("Counting …", false);
    try {
      const answer = await fetch(details.dataset.ladder, {
        method: "POST",
        headers: { "X-Tamis-Form": document.body.dataset.form },
        body: new URLSearchParams(new FormData(text.form)),
      });
      // A page of our own, in which every name and value has been made text.
      if (answer.headers.get("content-type").startsWith("text/html")) shown.innerHTML = await answer.text();
      else say((await answer.json()).error, true);
    } catch {
      say("The server does not answer. Is tamis still running?", true);
    }
  }

  details.addEventListener("toggle", () => {
    if (details.open && !shown.hasChildNodes()) look();
  });
  details.querySelector("button").addEventListener("click", look);
  shown.addEventListener("click", (event) => {
    const begin = event.target.closest("[data-begin]");
    if (!begin) return;
    text.value = begin.dataset.begin;
    text.focus();
  });
}
