// Elements and pictures. Text only ever becomes text: nothing here parses markup.

const $ = (id) => document.getElementById(`x-${id}`); // all identifiers begin so: the page may hold others

function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key === "text") node.textContent = value;
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== "" && child !== false));
  return node;
}

function svg(tag, props = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

// Words that can be clicked.
function link(kind, onclick, children, text = null) {
  const props = { class: `${kind} link`, type: "button", ...(text === null ? {} : { text, title: text }) };
  const node = h("button", props, children);
  node.addEventListener("click", onclick);
  return node;
}

const POINTS = 48; // of a curve
const HEIGHT = 44;
const sampled = (f) => Array.from({ length: POINTS + 1 }, (_, i) => f(i / POINTS));
const ABSCISSAS = Array.from({ length: POINTS + 1 }, (_, i) => Math.round((10000 * i) / POINTS) / 100);

// What feature d adds to the score of label j, above its slider: the curve of the general rule (strong), what the whole
// score would do if this slider alone moved (thin), and where the sample stands. Both are equal there, and rows of unit
// length, which a slider changes as a whole, have the first alone.
function shapeCurve(f, features, system, norm) {
  const d = features.at[f];
  const still = { "vector-effect": "non-scaling-stroke" };
  const [curve, whole] = ["curve", "whole"].map((kind) => svg("path", { class: kind, ...still }));
  const zero = svg("line", { class: "level", x1: 0, x2: 100, y1: HEIGHT / 2, y2: HEIGHT / 2, ...still });
  const mark = svg("line", { class: "mark", x1: 0, x2: 0, y1: 0, y2: HEIGHT, ...still });
  const frame = { class: "curves", viewBox: `0 0 100 ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" };
  const node = h("div", { class: "shape" }, svg("svg", frame, zero, whole, curve, mark), h("span", { class: "dot" }));
  const own = system.starts[d + 1] > system.starts[d];
  const asked = features.isAsked(f);
  let [label, places] = [-1, []];
  const height = (y, reach) => Math.min(1, Math.max(0, 0.5 - y / (2.1 * reach)));
  const path = (ys, reach) => `M${ys.map((y, i) => `${ABSCISSAS[i]} ${(HEIGHT * height(y, reach)).toFixed(2)}`).join("L")}`;
  const show = (at, now, j, reach) => {
    if (label !== j || system.scaleKind === "unit") {
      label = j;
      places = sampled((t) => system.place(d, features.between(f, t), norm()));
      if (own) curve.setAttribute("d", path(places.map((z) => system.effect(d, z, j)), reach));
    }
    const here = system.effect(d, now.z[d], j);
    if (Number.isNaN(now.z[d])) whole.removeAttribute("d");
    else if ((system.K || asked) && system.scaleKind !== "unit") {
      const along = system.along(j, d, now);
      const given = asked ? sampled((t) => features.givenWith(f, features.between(f, t), now.x, j)) : null;
      const start = here - along(now.z[d]) - (asked ? features.givenWith(f, now.x[d], now.x, j) : 0);
      whole.setAttribute("d", path(places.map((z, i) => along(z) + start + (given ? given[i] : 0)), reach));
    }
    mark.setAttribute("transform", `translate(${(100 * at).toFixed(2)} 0)`);
    node.lastChild.style.left = `${100 * at}%`;
    node.lastChild.style.top = `${100 * height(here, reach)}%`;
  };
  return { node, show };
}

// A strip that is dark where the membership of rule k is high, with the rule's centre and the sample on it.
function conditionStrip(k, f, features, system, prototypes, norm) {
  const d = features.at[f];
  const [c, width] = [system.centers, system.widths].map((table) => table[k * system.D + d]);
  const ys = sampled((t) => Math.exp(-((system.place(d, features.between(f, t), norm()) - c) ** 2) / width));
  const floor = Math.min(...ys, 0.98);
  const stops = ys.filter((_, i) => i % 4 === 0).map((y) => ((y - floor) / (1 - floor)).toFixed(3));
  const node = h("span", { class: "strip", "aria-hidden": "true" });
  const shades = stops.map((s) => `color-mix(in srgb, var(--accent) ${(85 * s).toFixed(1)}%, var(--track))`);
  node.style.background = `linear-gradient(to right, ${shades.join(", ")})`;
  const dot = h("span", { class: "strip-center" });
  dot.style.left = `${features.positionOf(f, prototypes[k * system.D + d]) / (STEPS / 100)}%`;
  const tick = h("span", { class: "strip-sample" });
  node.append(dot, tick);
  const show = (x) => {
    tick.hidden = Number.isNaN(x[d]);
    tick.style.left = `${features.positionOf(f, x[d]) / (STEPS / 100)}%`;
  };
  return { node, show };
}

// A row of an account: words with a note below, a bar to the left or right of zero, and the amount.
function ledgerRow(words, note, onclick, amount, ends, kind) {
  const at = (value) => (100 * (value - ends.low)) / (ends.high - ends.low);
  const fill = h("span", { class: `fill ${amount < 0 ? "down" : "up"}` });
  const zero = h("span", { class: "zero" });
  fill.style.left = `${at(Math.min(amount, 0))}%`;
  fill.style.width = `${at(Math.max(amount, 0)) - at(Math.min(amount, 0))}%`;
  zero.style.left = `${at(0)}%`;
  const bar = h("span", { class: "diverging", "aria-hidden": "true" }, zero, fill);
  const said = [h("span", { class: "what", text: words, title: words }), note && h("span", { class: "note", text: note })];
  const label = onclick ? link("ledger-words", onclick, said) : h("span", { class: "ledger-words" }, said);
  return h("li", { class: `ledger-row ${kind}` }, label, bar, h("span", { class: "amount", text: signed(amount) }));
}
