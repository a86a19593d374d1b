// What moves in the four regions: the release that is best now, the one that is looked at.

const PLOT_WORDS =
  "Releases by usefulness and the attacker’s gain. The arrow keys step from the best to the worst; " +
  "the table below has the same figures.";
const REACH = 28;

function makePlot(host, candidates, limits, hooks) {
  let scene = null;
  let layer = null;
  let shown = null;

  function redraw() {
    scene = plotScene(candidates, limits, Math.max(280, Math.round(host.clientWidth)));
    layer = svg("g");
    const frame = { viewBox: `0 0 ${scene.width} ${scene.height}`, role: "group", tabindex: "0" };
    const picture = svg("svg", { ...frame, "aria-label": PLOT_WORDS }, ...scene.layers, layer);
    listen(picture);
    host.replaceChildren(picture);
    if (shown) show(shown);
  }

  // What is released, what is best now and what is looked at lie above all other dots.
  function show(state) {
    shown = state;
    const { best, released, picked } = state;
    const [x, y] = scene.places[released];
    layer.replaceChildren(
      ...ranges(picked ?? best ?? released),
      svg("path", { class: "released", d: `M${x} ${y - 8}l8 8-8 8-8-8z` }),
      ...(best === null ? [] : bestMarks(best, released)),
      ...(picked === null || picked === best ? [] : pickedMarks(picked, released)),
    );
  }

  function bestMarks(best, released) {
    const [spot, other] = [scene.places[best], scene.places[released]];
    const ring = disc("ring", spot, 13);
    if (best === released) return [ring, label(best, -14)];
    const near = Math.hypot(spot[0] - other[0], spot[1] - other[1]) < 40;
    const above = spot[1] <= other[1];
    return [
      disc("best", spot, 6),
      ring,
      label(best, near && !above ? 20 : -14),
      label(released, near && above ? 24 : -14),
    ];
  }

  function pickedMarks(picked, released) {
    const mark = disc("picked", scene.places[picked], 9);
    return picked === released ? [mark] : [mark, label(picked, 24)];
  }

  function label(i, down) {
    const { across, places, width } = scene;
    const [x, y] = places[i];
    const text = shortened(candidates[i].name, width < NARROW ? 22 : 34);
    const leftwards = x > (across.start + across.stop) / 2;
    if (leftwards) return word("point-name", x - 16, y + down, "end", text);
    return word("point-name", x + 16, y + down, "start", text);
  }

  function ranges(i) {
    const { across, up } = scene;
    const { performance, performance_interval: wide, pbi, pbi_interval: tall } = candidates[i];
    const [x, y] = [across(performance), up(pbi)];
    const inside = (scale, value) => scale(Math.min(scale.high, Math.max(scale.low, value)));
    const found = [];
    if (wide) found.push(stroke("range", [inside(across, wide.low), y], [inside(across, wide.high), y]));
    if (tall) found.push(stroke("range", [x, inside(up, tall.low)], [x, inside(up, tall.high)]));
    return found;
  }

  function nearest(event) {
    const box = host.firstChild.getBoundingClientRect();
    const size = scene.width / box.width;
    const [x, y] = [(event.clientX - box.left) * size, (event.clientY - box.top) * size];
    let found = null;
    let least = REACH;
    scene.places.forEach(([px, py], i) => {
      const far = Math.hypot(px - x, py - y);
      if (far < least) [found, least] = [i, far];
    });
    return found;
  }

  function listen(picture) {
    picture.addEventListener("pointermove", (event) => hooks.pick(nearest(event)));
    picture.addEventListener("pointerdown", (event) => hooks.pick(nearest(event)));
    picture.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (step) hooks.walk(step);
      else if (event.key === "Home") hooks.walk(0);
      else if (event.key === "Escape") hooks.pick(null);
      else return;
      event.preventDefault();
    });
  }

  let width = host.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(host.clientWidth - width) < 2) return;
    width = host.clientWidth;
    redraw();
  }).observe(host);
  redraw();
  return { show };
}
