// Progress, told by the server; each message says everything, so that none is missed for good.
const watched = document.querySelector("[data-events]");
if (watched) {
  const part = (id) => document.getElementById(id);
  const source = new EventSource(watched.dataset.events);
  let began = performance.now() - 1000 * Number(part("elapsed").dataset.seconds);

  function time(seconds) {
    const whole = Math.round(seconds);
    return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
  }

  source.addEventListener("message", (event) => {
    const told = JSON.parse(event.data);
    if (told.state !== "working") {
      source.close();
      // What failed or was stopped is told by this page itself.
      if (told.state === "done") location.replace(told.then);
      else location.reload();
      return;
    }
    began = performance.now() - 1000 * told.seconds;
    part("doing").textContent = told.doing;
    part("place").textContent = told.total > 1 ? `${told.done} of ${told.total} of this step, ` : "";
    part("bar").value = told.share;
  });
  source.addEventListener("error", () => {
    part("doing").textContent = "The server does not answer. If it was ended, start tamis serve again.";
  });
  setInterval(() => (part("elapsed").textContent = time((performance.now() - began) / 1000)), 500);
}
