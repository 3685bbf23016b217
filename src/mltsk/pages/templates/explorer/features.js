// The features of a sample: what each is called, which values it takes, and the control that sets it. Feature f is
// columns at[f]..end[f] of the numbers x: one, or one per value of a nominal feature (of two values, the second); where
// gap[f] is not -1, that column is 1 if the feature is missing. A value is a number, a position among names, or NaN. The
// last columns are 1 where a rule that the user gave holds.

const STEPS = 1000; // positions of a slider
const MISSING = "not measured";

class Features {
  constructor(data, system) {
    this.names = data.features;
    this.system = system;
    this.choices = data.choices; // feature -> { values, names }: a list to choose from instead of a slider
    this.whole = new Set(data.whole);
    this.optional = new Set(data.optional); // features that may be missing
    this.given = data.given;
    [this.at, this.end, this.gap] = [0, 1, 2].map((i) => data.features.map((_, f) => data.columns?.[f][i] ?? [f, f + 1, -1][i]));
    this.quantiles = system.quantiles;
    this.ranges = unpack(data.ranges, Float64Array);
    this.stops = data.features.map((_, d) => this.makeStops(d));
  }

  columns(f) {
    const own = Array.from({ length: this.end[f] - this.at[f] }, (_, i) => this.at[f] + i);
    return this.gap[f] < 0 ? own : [...own, this.gap[f]];
  }

  value(f, x) {
    const own = x.subarray(this.at[f], this.end[f]);
    if (!own.length || own.some(Number.isNaN)) return NaN;
    return own.length === this.choices[f]?.nominal ? own.indexOf(1) : own[0];
  }

  set(f, value, x) {
    const own = x.subarray(this.at[f], this.end[f]);
    const count = this.choices[f]?.nominal; // how many values without an order, of which the last ones have columns
    if (count && !Number.isNaN(value)) own.forEach((_, i) => { own[i] = Number(value === i + count - own.length); });
    else own.fill(value);
    if (this.gap[f] >= 0) x[this.gap[f]] = Number(Number.isNaN(value));
    this.given.forEach(({ asks }, r) => { x[this.givenAt(r)] = Number(asks.every((ask) => meets(x, ask))); });
  }

  // The column of given rule r.
  givenAt(r) {
    return this.system.D - this.given.length + r;
  }

  // Whether some given rule asks for feature f.
  isAsked(f) {
    return this.given.some(({ words }) => words.some(([g]) => g === f));
  }

  // What given rules add to the score of label j if feature f of sample x had another value.
  givenWith(f, value, x, j) {
    const moved = x.slice();
    this.set(f, value, moved);
    return this.given.reduce((sum, _, r) => sum + moved[this.givenAt(r)] * this.givenShift(r, j), 0);
  }

  givenShift(r, j) {
    return this.system.effect(this.givenAt(r), this.system.place(this.givenAt(r), 1, 1), j);
  }

  // Amounts of columns as sums over those of each feature.
  fold(amounts) {
    return Float64Array.from(this.names, (_, f) => this.columns(f).reduce((sum, c) => sum + amounts[c], 0));
  }

  // What feature f adds to the score of label j, in words.
  adds(f, now, j) {
    const { starts, P } = this.system;
    const own = this.columns(f);
    if (!own.some((c) => starts[c + 1] > starts[c])) return P ? "not in the general rule" : "";
    return signed(own.reduce((sum, c) => sum + this.system.effect(c, now.z[c], j), 0));
  }

  // Values at equal distances along a slider: distinct training quantiles, so that skewed features move evenly.
  makeStops(f) {
    const d = this.at[f];
    const ends = [this.ranges[2 * d], this.ranges[2 * d + 1]];
    if (!(ends[1] > ends[0])) ends[1] = ends[0] + 1;
    if (!this.quantiles) return ends;
    const values = [...new Set(this.quantiles.subarray(21 * d, 21 * d + 21))];
    return values.length > 2 ? values : ends;
  }

  valueAt(f, position) {
    const value = this.between(f, Math.min(1, Math.max(0, position / STEPS)));
    return this.whole.has(this.at[f]) ? Math.round(value) : value;
  }

  // The value that many places further on, another one if there is one: of whole numbers, the next at least.
  stepped(f, value, places) {
    const next = this.valueAt(f, this.positionOf(f, value) + places);
    const [low, high] = [this.stops[f][0], this.stops[f][this.stops[f].length - 1]];
    return next === value && this.whole.has(this.at[f]) ? Math.min(high, Math.max(low, value + Math.sign(places))) : next;
  }

  takes(f, value) {
    if (Number.isNaN(value)) return this.optional.has(f);
    return this.choices[f] ? this.choices[f].values.includes(value) : Number.isFinite(value);
  }

  // The value at a share t (0..1) of the slider's way, also where a feature takes whole numbers only.
  between(d, t) {
    const stops = this.stops[d];
    const where = t * (stops.length - 1);
    const i = Math.min(Math.floor(where), stops.length - 2);
    return stops[i] + (stops[i + 1] - stops[i]) * (where - i);
  }

  positionOf(d, value) {
    const stops = this.stops[d];
    if (!(value > stops[0])) return 0;
    if (value >= stops[stops.length - 1]) return STEPS;
    const i = lastNotAbove(stops, 0, stops.length, value);
    return (STEPS * (i + (value - stops[i]) / (stops[i + 1] - stops[i]))) / (stops.length - 1);
  }

  percentile(f, value) {
    const d = this.at[f];
    if (!this.quantiles) return null;
    return percentileOf(this.quantiles, 21 * d, value);
  }

  choice(d, value) {
    const known = this.choices[d];
    const i = known ? known.values.indexOf(value) : -1;
    return i < 0 ? null : known.names[i];
  }

  // Where a value stands: a category, a word of five, or nothing.
  place(d, value) {
    if (this.choices[d] || Number.isNaN(value)) return "";
    const p = this.percentile(d, value);
    return p === null ? "" : `${fifth(p)}, ${tail(p)}`;
  }

  // A value in words: its category, or the number and where it stands.
  said(d, value) {
    if (Number.isNaN(value)) return MISSING;
    const place = this.place(d, value);
    return this.choice(d, value) ?? `${number(value)}${place ? ` (${place})` : ""}`;
  }
}

// Whether a column lies between two ends, null for none; what is missing lies nowhere.
function meets(x, [d, low, high]) {
  return (low === null || x[d] >= low) && (high === null || x[d] <= high) && !Number.isNaN(x[d]);
}

// A control for feature d; onset(d, value, done) is called while it moves and when it rests.
function featureControl(d, features, curve, onset) {
  const name = h("span", { class: "feature-name", text: features.names[d], title: features.names[d] });
  const place = h("span", { class: "feature-place" });
  const adds = h("span", { class: "feature-adds" });
  const known = features.choices[d];
  const field = known ? choiceField(d, features, onset) : numberField(d, features, onset);
  let last = null; // what is shown
  const slider = known ? null : sliderOf(d, features, onset, () => last);
  const absent = known || !features.optional.has(d) ? null : absentBox(d, features, onset);
  const head = h("div", { class: "feature-head" }, name, field);
  const notes = h("div", { class: "feature-notes" }, place, absent && absent.node, adds);
  const node = h("li", { class: "feature", "data-feature": d }, head, notes, slider && curve.node, slider);
  const show = (value, now, j, reach) => {
    const missing = Number.isNaN(value);
    last = missing ? null : value;
    const shown = missing ? "" : String(known ? value : Number(value.toPrecision(6)));
    if (document.activeElement !== field || known || missing) field.value = shown;
    adds.textContent = features.adds(d, now, j);
    place.textContent = features.place(d, value);
    if (!slider) return;
    node.classList.toggle("absent", missing);
    absent?.show(value);
    const at = missing ? Number(slider.value) : features.positionOf(d, value);
    curve.show(at / STEPS, now, j, reach);
    if (Number(slider.value) !== Math.round(at)) slider.value = at;
    slider.ariaValueText = features.said(d, value);
  };
  return { d, node, show };
}

// A box that takes the value of feature d away, and gives back the last one.
function absentBox(d, features, onset) {
  const box = h("input", { type: "checkbox", "aria-label": `${features.names[d]} ${MISSING}` });
  let last = features.valueAt(d, STEPS / 2);
  box.addEventListener("change", () => onset(d, box.checked ? NaN : last, true));
  const show = (value) => {
    box.checked = Number.isNaN(value);
    if (!box.checked) last = value;
  };
  return { node: h("label", { class: "absent-box" }, box, MISSING), show };
}

const KEYS = { ArrowRight: 10, ArrowUp: 10, ArrowLeft: -10, ArrowDown: -10, PageUp: 100, PageDown: -100 }; // a hundredth, a tenth

function sliderOf(d, features, onset, current) {
  const slider = h("input", { type: "range", min: 0, max: STEPS, class: "slider", "aria-label": features.names[d] });
  for (const event of ["input", "change"]) {
    slider.addEventListener(event, () => onset(d, features.valueAt(d, Number(slider.value)), event === "change"));
  }
  slider.addEventListener("keydown", (event) => {
    const by = KEYS[event.key];
    if (!by || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onset(d, features.stepped(d, current() ?? features.valueAt(d, Number(slider.value)), by), true);
  });
  return slider;
}

function numberField(d, features, onset) {
  const field = h("input", { type: "number", step: "any", class: "value", "aria-label": `Value of ${features.names[d]}` });
  field.addEventListener("change", () => {
    if (field.value !== "" && Number.isFinite(Number(field.value))) onset(d, Number(field.value), true);
  });
  return field;
}

function choiceField(d, features, onset) {
  const known = features.choices[d];
  const options = known.values.map((value, i) => h("option", { value: String(value), text: known.names[i] }));
  if (features.optional.has(d)) options.push(h("option", { value: "", text: MISSING }));
  const field = h("select", { class: "value choice", "aria-label": features.names[d] }, ...options);
  field.addEventListener("change", () => onset(d, field.value === "" ? NaN : Number(field.value), true));
  return field;
}
