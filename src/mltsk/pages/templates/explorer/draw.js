// Elements and pictures. Text only ever becomes text: nothing here parses markup.

function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key === "text") node.textContent = value;
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

function svg(tag, props = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const POINTS = 48; // of a curve
const MOST_CURVES = 24;
const ABSCISSAS = Array.from({ length: POINTS + 1 }, (_, i) => Math.round((10000 * i) / POINTS) / 100);

// Membership curves of all rules that have a condition on feature d, above its slider: a rule's line is as strong as
// its share of the sample. The scale of a curve begins at the least membership, which is written beside it.
function membershipCurves(d, features, system, norm) {
  const rules = [...Array(system.K).keys()]
    .filter((k) => system.hasCondition(k, d))
    .sort((a, b) => system.weights[b] - system.weights[a])
    .slice(0, MOST_CURVES);
  if (!rules.length) return { node: null, note: "in no condition", show: () => {} };
  const places = sampled((t) => system.place(d, features.between(d, t), norm()));
  const values = rules.map((k) => places.map((z) => system.membership(k, d, z)));
  const least = Math.min(1, ...values.flat());
  const floor = least > 0.98 ? 0.98 : least;
  const lines = values.map((ys) => svg("path", { class: "curve", d: pathOf(ys, floor) }));
  const mark = svg("line", { class: "mark", x1: 0, x2: 0, y1: 0, y2: 40, "vector-effect": "non-scaling-stroke" });
  const node = svg("svg", { class: "curves", viewBox: "0 0 100 40", preserveAspectRatio: "none", "aria-hidden": "true" },
    ...lines, mark);
  const note = `membership ${floor.toFixed(2)} to 1`;
  const show = (at, m) => {
    const most = Math.max(...m, 1e-12);
    rules.forEach((k, i) => lines[i].setAttribute("stroke-opacity", (0.1 + 0.9 * (m[k] / most)).toFixed(3)));
    mark.setAttribute("transform", `translate(${(100 * at).toFixed(2)} 0)`);
  };
  return { node, note, show };
}

function sampled(f) {
  return Array.from({ length: POINTS + 1 }, (_, i) => f(i / POINTS));
}

function pathOf(ys, floor) {
  const span = Math.max(1 - floor, 1e-9);
  const points = ys.map((y, i) => `${ABSCISSAS[i]} ${Math.round(3800 - (3600 * (y - floor)) / span) / 100}`);
  return `M${points.join("L")}`;
}

// A strip that is dark where the membership of rule k is high, with the rule's centre and the sample on it.
function conditionStrip(k, d, features, system, center, norm) {
  const ys = sampled((t) => system.membership(k, d, system.place(d, features.between(d, t), norm())));
  const floor = Math.min(...ys, 0.98);
  const stops = ys.filter((_, i) => i % 4 === 0).map((y) => ((y - floor) / (1 - floor)).toFixed(3));
  const node = h("span", { class: "strip", "aria-hidden": "true" });
  const shades = stops.map((s) => `color-mix(in srgb, var(--accent) ${(85 * s).toFixed(1)}%, var(--track))`);
  node.style.background = `linear-gradient(to right, ${shades.join(", ")})`;
  const dot = h("span", { class: "strip-center" });
  dot.style.left = `${features.positionOf(d, center) / (STEPS / 100)}%`;
  const tick = h("span", { class: "strip-sample" });
  node.append(dot, tick);
  return { node, show: (x) => { tick.style.left = `${features.positionOf(d, x[d]) / (STEPS / 100)}%`; } };
}

// What the bars of an account must have room for, zero included.
function endsOf(amounts) {
  return { low: Math.min(0, ...amounts), high: Math.max(1e-9, ...amounts) };
}

// A row of an account: words with a note below, a bar to the left or right of zero, and the amount.
function ledgerRow(words, note, amount, ends, kind, onclick) {
  const at = (value) => (100 * (value - ends.low)) / (ends.high - ends.low);
  const fill = h("span", { class: `fill ${amount < 0 ? "down" : "up"}` });
  const zero = h("span", { class: "zero" });
  fill.style.left = `${at(Math.min(amount, 0))}%`;
  fill.style.width = `${at(Math.max(amount, 0)) - at(Math.min(amount, 0))}%`;
  zero.style.left = `${at(0)}%`;
  const bar = h("span", { class: "diverging", "aria-hidden": "true" }, zero, fill);
  const said = [h("span", { class: "what", text: words, title: words }), note && h("span", { class: "note", text: note })];
  const label = h(onclick ? "button" : "span", { class: "ledger-words", type: onclick ? "button" : null }, said);
  if (onclick) label.classList.add("link");
  if (onclick) label.addEventListener("click", onclick);
  return h("li", { class: `ledger-row ${kind}` }, label, bar, h("span", { class: "amount", text: signed(amount) }));
}

const HUES = { up: [31, 111, 181], down: [200, 81, 31] };

// A table of correlations as coloured squares, with a frame around the row of the selected label. Squares are
// written as pixels of an image, once: 160 labels have 25,600 of them.
function drawMap(canvas, values, L, selected, dark) {
  const size = Math.max(4, Math.floor(560 / L));
  const pen = canvas.getContext("2d");
  if (!drawnMaps.has(values)) drawnMaps.set(values, new Map());
  const drawn = drawnMaps.get(values);
  if (!drawn.has(dark)) drawn.set(dark, mapImage(values, L, size, dark));
  canvas.width = canvas.height = size * L;
  pen.putImageData(drawn.get(dark), 0, 0);
  pen.strokeStyle = dark ? "#e9ebee" : "#1d2129";
  pen.lineWidth = 2;
  pen.strokeRect(1, selected * size + 1, size * L - 2, size - 2);
}

const drawnMaps = new Map();

function mapImage(values, L, size, dark) {
  const gap = size > 8 ? 1 : 0;
  const width = size * L;
  const image = new ImageData(width, width);
  const pixels = new Uint32Array(image.data.buffer);
  const palette = shades(dark);
  for (let y = 0; y < width; y++) {
    const row = Math.floor(y / size) * L;
    if (y % size >= size - gap) continue;
    for (let x = 0; x < width; x++) {
      if (x % size < size - gap) pixels[y * width + x] = palette[values[row + Math.floor(x / size)] + 127];
    }
  }
  return image;
}

// Colours of -127..127 as pixels.
function shades(dark) {
  const ground = dark ? [27, 32, 39] : [246, 245, 242];
  return Uint32Array.from({ length: 255 }, (_, i) => {
    const r = (i - 127) / 127;
    const hue = r < 0 ? HUES.down : HUES.up;
    const [red, green, blue] = ground.map((c, n) => Math.round(c + (hue[n] - c) * Math.abs(r) ** 0.75));
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}
