// The features of a sample: what each is called, which values it takes, and the control that sets it.

const STEPS = 1000; // positions of a slider

class Features {
  constructor(data, system) {
    this.names = data.features;
    this.system = system;
    this.choices = data.choices; // feature -> { values, names }: a list to choose from instead of a slider
    this.whole = new Set(data.whole);
    this.quantiles = system.quantiles;
    this.ranges = unpack(data.ranges, Float64Array);
    this.stops = data.features.map((_, d) => this.makeStops(d));
  }

  // Values at equal distances along a slider: distinct training quantiles, so that skewed features move evenly.
  makeStops(d) {
    const ends = [this.ranges[2 * d], this.ranges[2 * d + 1]];
    if (!(ends[1] > ends[0])) ends[1] = ends[0] + 1;
    if (!this.quantiles) return ends;
    const values = [...new Set(this.quantiles.subarray(21 * d, 21 * d + 21))];
    return values.length > 2 ? values : ends;
  }

  valueAt(d, position) {
    const value = this.between(d, position / STEPS);
    return this.whole.has(d) ? Math.round(value) : value;
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

  percentile(d, value) {
    if (!this.quantiles) return null;
    if (this.system.ends) return Math.min(1, Math.max(0, this.system.level(d, value)));
    return percentileOf(this.quantiles, 21 * d, value);
  }

  choice(d, value) {
    const known = this.choices[d];
    const i = known ? known.values.indexOf(value) : -1;
    return i < 0 ? null : known.names[i];
  }

  // Where a value stands: a category, a word of five, or nothing.
  place(d, value) {
    if (this.choices[d]) return "";
    const p = this.percentile(d, value);
    return p === null ? "" : `${fifth(p)}, ${tail(p)}`;
  }

  // A value in words: its category, or the number and where it stands.
  said(d, value) {
    const place = this.place(d, value);
    return this.choice(d, value) ?? `${number(value)}${place ? ` (${place})` : ""}`;
  }

  words(d, value) {
    return `${this.names[d]} is ${this.said(d, value)}`;
  }
}

// A control for feature d; onset(d, value, done) is called while it moves and when it rests.
function featureControl(d, features, curve, onset) {
  const name = h("span", { class: "feature-name", text: features.names[d], title: features.names[d] });
  const place = h("span", { class: "feature-place" });
  const adds = h("span", { class: "feature-adds" });
  const known = features.choices[d];
  const field = known ? choiceField(d, features, onset) : numberField(d, features, onset);
  const slider = known ? null : sliderOf(d, features, onset);
  const head = h("div", { class: "feature-head" }, name, field);
  const notes = h("div", { class: "feature-notes" }, place, adds);
  const node = h("li", { class: "feature", "data-feature": d }, head, notes, slider && curve.node, slider);
  const show = (value, now, j, reach) => {
    if (document.activeElement !== field || known) field.value = known ? String(value) : String(Number(value.toPrecision(6)));
    const at = known ? 0 : features.positionOf(d, value);
    place.textContent = features.place(d, value);
    adds.textContent = curve.show(at / STEPS, now, j, reach);
    if (!slider) return;
    if (Number(slider.value) !== Math.round(at)) slider.value = at;
    slider.setAttribute("aria-valuetext", features.words(d, value));
  };
  return { d, node, show };
}

function sliderOf(d, features, onset) {
  const slider = h("input", { type: "range", min: 0, max: STEPS, class: "slider", "aria-label": features.names[d] });
  for (const event of ["input", "change"]) {
    slider.addEventListener(event, () => onset(d, features.valueAt(d, Number(slider.value)), event === "change"));
  }
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
  const field = h("select", { class: "value choice", "aria-label": features.names[d] }, ...options);
  field.addEventListener("change", () => onset(d, Number(field.value), true));
  return field;
}
