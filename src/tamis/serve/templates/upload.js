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
// A form whose parts are files: they are sent first, then the form with the number of their folder.
for (const form of document.querySelectorAll("[data-parts]")) {
  const zones = [...form.querySelectorAll("[data-part]")];
  const state = form.querySelector(".upload-state");
  for (const zone of zones) {
    zone.addEventListener("dragover", () => zone.classList.add("over"));
    zone.addEventListener("dragleave", () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      zone.classList.remove("over");
      zone.querySelector("input[type=file]").files = event.dataTransfer.files;
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      let to = form.elements.to.value;
      for (const zone of zones) {
        for (const file of zone.querySelector("input[type=file]").files) {
          if (file.size > MOST) throw new Error(`${file.name} is larger than 1 GiB; give its path on this machine instead.`);
          const address = `${form.dataset.parts}?${new URLSearchParams({ part: zone.dataset.part, name: file.name, to })}`;
          const answer = await send(address, file, (share) => (state.textContent = `${file.name}: ${Math.round(100 * share)}%`));
          to = answer.to;
        }
      }
      form.elements.to.value = to;
      form.submit();
    } catch (error) {
      state.textContent = error.message;
      state.classList.add("wrong");
    }
  });
}
// A file that misses the zone must not replace the page.
for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
