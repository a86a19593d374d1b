// The command line below a form says what the form says now, also before it is sent.
const line = document.getElementById("command");
const box = line?.closest("pre");
const copy = document.querySelector('[data-copy="command"]');
for (const form of line ? document.querySelectorAll("form[data-command]") : []) {
  let waiting;
  let asked = 0;

  // What the form no longer says is never shown as if it did, nor copied.
  function wait(busy) {
    box.setAttribute("aria-busy", String(busy));
    copy.disabled = busy;
  }

  async function renew() {
    const mine = ++asked;
    try {
      const answer = await fetch(form.dataset.command, {
        method: "POST",
        headers: { "X-Tamis-Form": document.body.dataset.form },
        body: new URLSearchParams(new FormData(form)),
      });
      const { command } = await answer.json();
      // A form that is not complete yet has no command; an answer that was overtaken is not shown.
      if (!command || mine !== asked) return;
      show(command);
      wait(false);
    } catch {
      // Without the server there is nothing newer to show.
    }
  }

  function show(command) {
    const [first, ...flags] = command.split(" --");
    line.textContent = first;
    for (const flag of flags) {
      const part = document.createElement("span");
      part.className = "flag";
      part.textContent = `--${flag}`;
      line.append(" ", part);
    }
  }

  const soon = () => {
    wait(true);
    clearTimeout(waiting);
    waiting = setTimeout(renew, 100);
  };
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
}
