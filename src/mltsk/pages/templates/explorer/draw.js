// Elements and pictures. Text only ever becomes text: nothing here parses markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const CURVE_POINTS = 48;
const CURVE_HEIGHT = 44;

// The element of the explorer with that name: all identifiers begin with "x-", as the
// page around it may hold others.
function $(name) {
  return document.getElementById(`x-${name}`);
}

// Whether a child is to be left out: conditions in lists of children end up as these.
function isNothing(child) {
  return child === null || child === undefined || child === "" || child === false;
}

// An HTML element. `text` is its text; true is an attribute without a value; false and
// null are no attribute.
function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key === "text") node.textContent = value;
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value !== null) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => !isNothing(child)));
  return node;
}

// An element of an SVG picture.
function svg(tag, props = {}, ...children) {
  const node = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [key, value] of Object.entries(props)) {
    node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

// A button that looks like the words or elements in it.
function link(kind, onclick, children) {
  const node = h("button", { class: `${kind} link`, type: "button" }, children);
  node.addEventListener("click", onclick);
  return node;
}

// A button of words, which are shown in full where they are cut.
function textLink(onclick, text) {
  const node = link("", onclick, [text]);
  node.title = text;
  return node;
}

// Values of a function at equal distances from 0 to 1.
function sampled(f) {
  return range(CURVE_POINTS + 1).map((i) => f(i / CURVE_POINTS));
}

const CURVE_ABSCISSAS = sampled((t) => Math.round(10000 * t) / 100);

// How far down a curve (0..1) an amount is drawn; 0 is in the middle.
function depthOf(amount, reach) {
  return clamped(0.5 - amount / (2.1 * reach), 0, 1);
}

// A path through amounts at equal distances.
function curvePath(amounts, reach) {
  const points = amounts.map((amount, i) => {
    const y = CURVE_HEIGHT * depthOf(amount, reach);
    return `${CURVE_ABSCISSAS[i]} ${y.toFixed(2)}`;
  });
  return `M${points.join("L")}`;
}

// What a feature adds to the score of a label, above its slider: the curve of the
// general rule (strong), what the whole score would do if this slider alone moved
// (thin), and where the sample stands, where both are equal. Rows of unit length, which
// a slider changes as a whole, have the first alone.
class ShapeCurve {
  constructor(f, features, system, norm) {
    Object.assign(this, { f, features, system, norm });
    this.column = features.at[f];
    this.label = -1; // for which the curve was drawn
    this.places = [];
    this.draw();
  }

  // The elements, still without their data.
  draw() {
    const fixed = { "vector-effect": "non-scaling-stroke" };
    const middle = CURVE_HEIGHT / 2;
    const level = { class: "level", x1: 0, x2: 100, y1: middle, y2: middle, ...fixed };
    const mark = { class: "mark", x1: 0, x2: 0, y1: 0, y2: CURVE_HEIGHT, ...fixed };
    const frame = {
      class: "curves",
      viewBox: `0 0 100 ${CURVE_HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    };
    this.curve = svg("path", { class: "curve", ...fixed });
    this.whole = svg("path", { class: "whole", ...fixed });
    this.mark = svg("line", mark);
    this.dot = h("span", { class: "dot" });
    const zero = svg("line", level);
    const picture = svg("svg", frame, zero, this.whole, this.curve, this.mark);
    this.node = h("div", { class: "shape" }, picture, this.dot);
  }

  // Show label j for a sample that stands at a share of the slider's way.
  show(share, now, j, reach) {
    const amount = this.system.effect(this.column, now.z[this.column], j);
    if (this.label !== j || this.system.scaleKind === "unit") {
      this.label = j;
      this.showGeneral(j, reach);
    }
    this.showWhole(now, j, amount, reach);
    this.mark.setAttribute("transform", `translate(${(100 * share).toFixed(2)} 0)`);
    this.dot.style.left = `${100 * share}%`;
    this.dot.style.top = `${100 * depthOf(amount, reach)}%`;
  }

  // The curve of the general rule, where this feature is in it.
  showGeneral(j, reach) {
    const { column, features, system } = this;
    this.places = sampled((t) => {
      return system.place(column, features.between(this.f, t), this.norm());
    });
    if (system.starts[column + 1] === system.starts[column]) return;
    const effects = this.places.map((z) => system.effect(column, z, j));
    this.curve.setAttribute("d", curvePath(effects, reach));
  }

  // What the whole score would do, moved so that it passes the sample's own point.
  showWhole(now, j, amount, reach) {
    const { f, column, features, system } = this;
    if (Number.isNaN(now.z[column])) {
      this.whole.removeAttribute("d");
      return;
    }
    const isAsked = features.isAsked(f);
    const movesAlone = !system.K && !isAsked && !system.isPaired(column);
    if (movesAlone || system.scaleKind === "unit") return;
    const along = system.along(j, column, now);
    const given = (value) => (isAsked ? features.givenWith(f, value, now.x, j) : 0);
    const start = amount - along(now.z[column]) - given(now.x[column]);
    const added = sampled((t) => given(features.between(f, t)));
    const amounts = this.places.map((z, i) => along(z) + start + added[i]);
    this.whole.setAttribute("d", curvePath(amounts, reach));
  }
}

// Shades of a strip from left to right, darkest where the membership of rule k is high.
function stripShades(k, f, features, system, norm) {
  const column = features.at[f];
  const at = k * system.D + column;
  const memberships = sampled((t) => {
    const place = system.place(column, features.between(f, t), norm());
    return Math.exp(-((place - system.centers[at]) ** 2) / system.widths[at]);
  });
  const floor = Math.min(...memberships, 0.98);
  const stops = memberships.filter((_, i) => i % 4 === 0);
  return stops.map((membership) => {
    const level = Number(((membership - floor) / (1 - floor)).toFixed(3));
    const part = (85 * level).toFixed(1);
    return `color-mix(in srgb, var(--accent) ${part}%, var(--track))`;
  });
}

// A strip that is dark where rule k applies, with the rule's centre and the sample on
// it.
function conditionStrip(k, f, features, system, norm) {
  const column = features.at[f];
  const shades = stripShades(k, f, features, system, norm);
  const left = (value) => `${features.positionOf(f, value) / (SLIDER_STEPS / 100)}%`;
  const centre = h("span", { class: "strip-center" });
  const tick = h("span", { class: "strip-sample" });
  const node = h("span", { class: "strip", "aria-hidden": "true" }, centre, tick);
  node.style.background = `linear-gradient(to right, ${shades.join(", ")})`;
  centre.style.left = left(system.prototypes[k * system.D + column]);
  const show = (x) => {
    tick.hidden = Number.isNaN(x[column]);
    tick.style.left = left(x[column]);
  };
  return { node, show };
}

// A bar from zero to an amount, to the right or to the left, between two ends.
function divergingBar(amount, ends) {
  const at = (value) => (100 * (value - ends.low)) / (ends.high - ends.low);
  const from = at(Math.min(amount, 0));
  const to = at(Math.max(amount, 0));
  const fill = h("span", { class: `fill ${amount < 0 ? "down" : "up"}` });
  const zero = h("span", { class: "zero" });
  fill.style.left = `${from}%`;
  fill.style.width = `${to - from}%`;
  zero.style.left = `${at(0)}%`;
  return h("span", { class: "diverging", "aria-hidden": "true" }, zero, fill);
}

// A row of an account: words with a note below, a bar, and the amount.
function ledgerRow({ words, note = "", onclick = null, kind = "" }, amount, ends) {
  const lines = [
    h("span", { class: "what", text: words, title: words }),
    note && h("span", { class: "note", text: note }),
  ];
  const label = onclick
    ? link("ledger-words", onclick, lines)
    : h("span", { class: "ledger-words" }, lines);
  const figure = h("span", { class: "amount", text: signed(amount) });
  const row = { class: `ledger-row ${kind}` };
  return h("li", row, label, divergingBar(amount, ends), figure);
}
