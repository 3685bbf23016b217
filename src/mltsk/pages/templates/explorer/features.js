// The features of a sample: what each is called, which values it takes, and the control
// that sets it.
//
// Feature f is columns at[f]..end[f] of the numbers x: one column, or one per value of
// a nominal feature (of two values, the second). Where gap[f] is not -1, that column is
// 1 if the feature is missing. A value is a number, a position among names, or NaN. The
// last columns are 1 where a rule that the user gave holds.

const SLIDER_STEPS = 1000;
const MISSING = "not measured";

// By how many steps keys move a slider: a hundredth, or a tenth.
const KEY_STEPS = {
  ArrowRight: 10,
  ArrowUp: 10,
  ArrowLeft: -10,
  ArrowDown: -10,
  PageUp: 100,
  PageDown: -100,
};

class Features {
  constructor(data, system) {
    const columns = data.columns ?? data.features.map((_, f) => [f, f + 1, -1]);
    this.names = data.features;
    this.system = system;
    this.choices = data.choices; // feature -> { values, names }: chosen, not slid
    this.whole = new Set(data.whole);
    this.optional = new Set(data.optional); // features that may be missing
    this.given = data.given;
    this.at = columns.map(([first]) => first);
    this.end = columns.map(([, end]) => end);
    this.gap = columns.map(([, , gap]) => gap);
    this.quantiles = system.quantiles;
    this.ranges = unpack(data.ranges, Float64Array);
    this.stops = data.features.map((_, f) => this.makeStops(f));
  }

  // All columns of feature f.
  columns(f) {
    const own = range(this.end[f] - this.at[f]).map((i) => this.at[f] + i);
    return this.gap[f] < 0 ? own : [...own, this.gap[f]];
  }

  // The value of feature f in sample x.
  value(f, x) {
    const own = x.subarray(this.at[f], this.end[f]);
    if (!own.length || own.some(Number.isNaN)) return NaN;
    const hasColumnPerValue = own.length === this.choices[f]?.nominal;
    return hasColumnPerValue ? own.indexOf(1) : own[0];
  }

  // Set feature f of sample x, and what follows for rules of the user.
  set(f, value, x) {
    const own = x.subarray(this.at[f], this.end[f]);
    const nValues = this.choices[f]?.nominal; // without an order; the last have columns
    if (nValues && !Number.isNaN(value)) {
      const first = nValues - own.length;
      own.forEach((_, i) => {
        own[i] = Number(value === i + first);
      });
    } else {
      own.fill(value);
    }
    if (this.gap[f] >= 0) x[this.gap[f]] = Number(Number.isNaN(value));
    this.given.forEach(({ asks }, r) => {
      x[this.givenAt(r)] = Number(asks.every((ask) => meets(x, ask)));
    });
  }

  // The column of given rule r.
  givenAt(r) {
    return this.system.D - this.given.length + r;
  }

  // Whether some given rule asks for feature f.
  isAsked(f) {
    return this.given.some(({ words }) => words.some(([feature]) => feature === f));
  }

  // What given rules would add to the score of label j if feature f of sample x had
  // another value.
  givenWith(f, value, x, j) {
    const moved = x.slice();
    this.set(f, value, moved);
    return this.given.reduce((sum, _, r) => {
      return sum + moved[this.givenAt(r)] * this.givenShift(r, j);
    }, 0);
  }

  // What given rule r adds to the score of label j where it holds.
  givenShift(r, j) {
    const column = this.givenAt(r);
    return this.system.effect(column, this.system.place(column, 1, 1), j);
  }

  // Amounts of columns as sums over those of each feature.
  fold(amounts) {
    return Float64Array.from(this.names, (_, f) => {
      return this.columns(f).reduce((sum, column) => sum + amounts[column], 0);
    });
  }

  // What feature f adds to the score of label j, in words.
  adds(f, now, j) {
    const { system } = this;
    const own = this.columns(f);
    if (!own.some((column) => system.starts[column + 1] > system.starts[column])) {
      return system.P ? "not in the general rule" : "";
    }
    const amounts = own.map((column) => system.effect(column, now.z[column], j));
    return signed(sumOf(amounts));
  }

  // Values at equal distances along a slider: distinct training quantiles, so that
  // skewed features move evenly.
  makeStops(f) {
    const column = this.at[f];
    const low = this.ranges[2 * column];
    const high = this.ranges[2 * column + 1];
    const ends = [low, high > low ? high : low + 1];
    if (!this.quantiles) return ends;
    const from = N_QUANTILES * column;
    const quantiles = new Set(this.quantiles.subarray(from, from + N_QUANTILES));
    return quantiles.size > 2 ? [...quantiles] : ends;
  }

  // The smallest and the largest value that the slider of feature f reaches.
  ends(f) {
    const stops = this.stops[f];
    return [stops[0], stops[stops.length - 1]];
  }

  // The value at a position of the slider.
  valueAt(f, position) {
    const value = this.between(f, clamped(position / SLIDER_STEPS, 0, 1));
    return this.isWhole(f) ? Math.round(value) : value;
  }

  // Whether feature f takes whole numbers only.
  isWhole(f) {
    return this.whole.has(this.at[f]);
  }

  // The value that many steps further on, another one if there is one: of whole
  // numbers, the next at least.
  stepped(f, value, steps) {
    const next = this.valueAt(f, this.positionOf(f, value) + steps);
    if (next !== value || !this.isWhole(f)) return next;
    const [low, high] = this.ends(f);
    return clamped(value + Math.sign(steps), low, high);
  }

  // Whether feature f can have that value.
  takes(f, value) {
    if (Number.isNaN(value)) return this.optional.has(f);
    if (this.choices[f]) return this.choices[f].values.includes(value);
    return Number.isFinite(value);
  }

  // The value at a share t (0..1) of the slider's way, also between whole numbers.
  between(f, t) {
    const stops = this.stops[f];
    const where = t * (stops.length - 1);
    const i = Math.min(Math.floor(where), stops.length - 2);
    return stops[i] + (stops[i + 1] - stops[i]) * (where - i);
  }

  // The position of the slider at a value.
  positionOf(f, value) {
    const stops = this.stops[f];
    const [low, high] = this.ends(f);
    if (!(value > low)) return 0;
    if (value >= high) return SLIDER_STEPS;
    const i = lastNotAbove(stops, 0, stops.length, value);
    const where = i + (value - stops[i]) / (stops[i + 1] - stops[i]);
    return (SLIDER_STEPS * where) / (stops.length - 1);
  }

  // Where a value stands in the data (0..1), or null where that is not known.
  percentile(f, value) {
    if (!this.quantiles) return null;
    return percentileOf(this.quantiles, N_QUANTILES * this.at[f], value);
  }

  // The name of a value, or null where it has none.
  choice(f, value) {
    const choices = this.choices[f];
    const i = choices ? choices.values.indexOf(value) : -1;
    return i < 0 ? null : choices.names[i];
  }

  // Where a number stands in the data, in words; nothing for a name.
  place(f, value) {
    if (this.choices[f] || Number.isNaN(value)) return "";
    const percentile = this.percentile(f, value);
    return percentile === null ? "" : `${fifth(percentile)}, ${tail(percentile)}`;
  }

  // A value in words: its name, or the number and where it stands.
  said(f, value) {
    if (Number.isNaN(value)) return MISSING;
    const place = this.place(f, value);
    const inWords = place ? `${number(value)} (${place})` : number(value);
    return this.choice(f, value) ?? inWords;
  }

  // A value in short: its name, or the number alone.
  brief(f, value) {
    if (Number.isNaN(value)) return MISSING;
    return this.choice(f, value) ?? number(value);
  }
}

// Whether a column lies between two ends, null for no end; what is missing does not.
function meets(x, [column, low, high]) {
  const value = x[column];
  if (Number.isNaN(value)) return false;
  return (low === null || value >= low) && (high === null || value <= high);
}

// The control of a feature; onset(f, value, isDone) is called while it moves (isDone is
// false) and when it rests.
class FeatureControl {
  constructor(f, features, curve, onset) {
    Object.assign(this, { f, features, curve, onset });
    const name = features.names[f];
    this.choices = features.choices[f];
    this.last = null; // the number that is shown
    this.field = this.choices ? choiceField(this) : numberField(this);
    this.slider = this.choices ? null : sliderOf(this);
    this.absent = this.choices || !features.optional.has(f) ? null : absentBox(this);
    this.place = h("span", { class: "feature-place" });
    this.adds = h("span", { class: "feature-adds" });
    const title = h("span", { class: "feature-name", text: name, title: name });
    const notes = [this.place, this.absent && this.absent.node, this.adds];
    this.node = h("li", { class: "feature", "data-feature": f }, [
      h("div", { class: "feature-head" }, title, this.field),
      h("div", { class: "feature-notes" }, notes),
      this.slider && curve.node,
      this.slider,
    ]);
  }

  // A button that leads to the edits of this feature.
  addEdit(onclick) {
    const label = `Edit the curve of ${this.features.names[this.f]}`;
    const button = link("feature-edit", onclick, ["Edit"]);
    button.ariaLabel = label;
    button.title = label;
    this.adds.after(button);
  }

  // Show a value, and what it adds to the score of label j.
  show(value, now, j, reach) {
    this.last = Number.isNaN(value) ? null : value;
    this.showField(value);
    this.adds.textContent = this.features.adds(this.f, now, j);
    this.place.textContent = this.features.place(this.f, value);
    if (this.slider) this.showSlider(value, now, j, reach);
  }

  // Put a value into the field, unless somebody is typing there.
  showField(value) {
    const isMissing = Number.isNaN(value);
    const isTyping = document.activeElement === this.field && !this.choices;
    if (isTyping && !isMissing) return;
    const shown = this.choices ? value : Number(value.toPrecision(6));
    this.field.value = isMissing ? "" : String(shown);
  }

  // Move the slider to a value, and the mark on its curve.
  showSlider(value, now, j, reach) {
    const { f, features, slider } = this;
    const isMissing = Number.isNaN(value);
    this.node.classList.toggle("absent", isMissing);
    this.absent?.show(value);
    const at = isMissing ? Number(slider.value) : features.positionOf(f, value);
    this.curve.show(at / SLIDER_STEPS, now, j, reach);
    if (Number(slider.value) !== Math.round(at)) slider.value = at;
    slider.ariaValueText = features.said(f, value);
  }
}

// A box that takes the value of a feature away, and gives back the last one.
function absentBox({ f, features, onset }) {
  const label = `${features.names[f]} ${MISSING}`;
  const box = h("input", { type: "checkbox", "aria-label": label });
  let last = features.valueAt(f, SLIDER_STEPS / 2);
  box.addEventListener("change", () => onset(f, box.checked ? NaN : last, true));
  const show = (value) => {
    box.checked = Number.isNaN(value);
    if (!box.checked) last = value;
  };
  return { node: h("label", { class: "absent-box" }, box, MISSING), show };
}

// The slider of a control; keys move it from the value that is shown.
function sliderOf(control) {
  const { f, features, onset } = control;
  const slider = h("input", {
    type: "range",
    min: 0,
    max: SLIDER_STEPS,
    class: "slider",
    "aria-label": features.names[f],
  });
  const valueHere = () => features.valueAt(f, Number(slider.value));
  slider.addEventListener("input", () => onset(f, valueHere(), false));
  slider.addEventListener("change", () => onset(f, valueHere(), true));
  slider.addEventListener("keydown", (event) => {
    const steps = KEY_STEPS[event.key];
    if (!steps || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    onset(f, features.stepped(f, control.last ?? valueHere(), steps), true);
  });
  return slider;
}

// A field for a number, which may lie beyond the slider.
function numberField({ f, features, onset }) {
  const field = h("input", {
    type: "number",
    step: "any",
    class: "value",
    "aria-label": `Value of ${features.names[f]}`,
  });
  field.addEventListener("change", () => {
    const value = Number(field.value);
    if (field.value !== "" && Number.isFinite(value)) onset(f, value, true);
  });
  return field;
}

// A list of the names of values.
function choiceField({ f, features, choices, onset }) {
  const options = choices.values.map((value, i) => {
    return h("option", { value: String(value), text: choices.names[i] });
  });
  if (features.optional.has(f)) options.push(h("option", { value: "", text: MISSING }));
  const props = { class: "value choice", "aria-label": features.names[f] };
  const field = h("select", props, options);
  field.addEventListener("change", () => {
    onset(f, field.value === "" ? NaN : Number(field.value), true);
  });
  return field;
}
