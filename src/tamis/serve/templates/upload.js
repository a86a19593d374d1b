// Files that are dropped into the page are sent as they are, one after the other.
const MOST = 2 ** 30;

function send(address, file, tell) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", address);
    request.setRequestHeader("X-Tamis-Form", document.body.dataset.form);
    request.upload.addEventListener("progress", (at) => tell(at.loaded / Math.max(1, at.total)));
    request.addEventListener("error", () => reject(new Error("The server does not answer. Is tamis still running?")));
    request.addEventListener("load", () => {
      let answer = { error: "The server refused the file." };
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        // It keeps the words above.
      }
      if (answer.error) reject(new Error(answer.error));
      else resolve(answer);
    });
    request.send(file);
  });
}

async function sendAll(zone, files, tell) {
  const large = files.find((file) => file.size > MOST);
  if (large) {
    throw new Error(`${large.name} is larger than 1 GiB, the most that can be dropped into the page; give its path on this machine instead.`);
  }
  let to = "";
  for (const [at, file] of files.entries()) {
    const last = at === files.length - 1 ? "yes" : "no";
    const reading = Object.fromEntries([...document.querySelectorAll("[data-reading]")].map((said) => [said.name, said.value]));
    const keep = zone.querySelector("[name=keep]")?.checked ? "yes" : "no";
    const address = `${zone.dataset.upload}?${new URLSearchParams({ ...reading, name: file.name, to, last, keep })}`;
    const answer = await send(address, file, (share) => tell(`${file.name}: ${Math.round(100 * share)}%`));
    to = answer.to ?? "";
    if (answer.go) location.assign(answer.go);
  }
}

for (const zone of document.querySelectorAll("[data-upload]")) {
  const input = zone.querySelector("input[type=file]");
  const state = zone.querySelector(".upload-state");
  const say = (words, wrong = false) => {
    state.textContent = words;
    state.classList.toggle("wrong", wrong);
  };
  const begin = async (list) => {
    const files = "several" in zone.dataset ? [...list] : [...list].slice(0, 1);
    if (!files.length) return;
    try {
      await sendAll(zone, files, say);
    } catch (error) {
      say(error.message, true);
      input.value = "";
    }
  };
  input.addEventListener("change", () => begin(input.files));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    begin(event.dataTransfer.files);
  });
}
// A file that misses the zone must not replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
