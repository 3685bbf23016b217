// The fuzzy system: arithmetic on typed arrays, nothing of the page.
// Symbols: K exceptions, D columns of numbers (features, or parts of them), L labels, P terms of the general rule; x a
// sample in the caller's units, z the same on the scale of the rules, filled the same with averages for what is missing
// (NaN), m how far each exception applies. Everything is float64, as in Python.

function unpack(text, Type) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Type(bytes.buffer);
}

// Coefficients come without their zeros: one bit each says where the others belong. Equal widths come as one number.
function unpackSparse(packed, size) {
  const mask = unpack(packed.mask, Uint8Array);
  const values = unpack(packed.values, packed.single ? Float32Array : Float64Array);
  const out = new Float64Array(size);
  for (let i = 0, next = 0; i < size; i++) {
    if (mask[i >> 3] & (1 << (i & 7))) out[i] = values[next++];
  }
  return out;
}

// Index of the last entry of the rising table[from..to) that is not above value; from if all are.
function lastNotAbove(table, from, to, value) {
  let low = from;
  let high = to;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (table[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

// Linear between knots and constant beyond them.
function interpolate(xs, ys, from, to, value) {
  if (!(value > xs[from])) return ys[from];
  if (value >= xs[to - 1]) return ys[to - 1];
  const i = lastNotAbove(xs, from, to, value);
  return ys[i] + ((ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i])) * (value - xs[i]);
}

class FuzzySystem {
  constructor(data) {
    const floats = (text) => (text === null ? null : unpack(text, Float64Array));
    [this.K, this.D, this.L, this.P] = data.shape;
    for (const name of ["share", "thresholds", "intercept", "slopes", "offsets", "weights", "centers", "middle", "quantiles"]) {
      this[name] = floats(data[name]);
    }
    const widths = floats(data.widths);
    this.widths = widths.length === 1 ? new Float64Array(this.K * this.D).fill(widths[0]) : widths;
    this.firing = data.firing;
    this.counted = this.gather(() => 0).seen; // how much a rule's conditions count together
    this.rows = data.order ? this.D + 1 : 1; // of a consequent
    this.coef = unpackSparse(data.coef, this.K * this.rows * this.L);
    this.single = data.single;
    this.readScale(data.scale, floats);
    this.readTerms(data.terms, floats);
  }

  readScale(scale, floats) {
    this.scaleKind = scale.kind;
    if (scale.kind === "unit" || scale.kind === "none") return;
    this.offset = floats(scale.offset);
    this.spread = floats(scale.spread);
    this.knots = floats(scale.values);
    this.levels = floats(scale.levels);
    this.ends = this.levels && floats(scale.ends);
  }

  // Terms come sorted by feature: those of feature d are starts[d]..starts[d + 1].
  readTerms(terms, floats) {
    this.linear = terms.low === null;
    for (const name of ["low", "high", "mean"]) this[name] = floats(terms[name]);
    this.termCoef = unpackSparse(terms.coef, this.P * this.L);
    this.starts = new Uint32Array(this.D + 1);
    for (const d of unpack(terms.feature, Uint32Array)) this.starts[d + 1]++;
    for (let d = 0; d < this.D; d++) this.starts[d + 1] += this.starts[d];
  }

  // Where a value lies on the scale of feature d; norm is the length of its row where rows have unit length.
  place(d, value, norm) {
    if (Number.isNaN(value)) return NaN;
    if (this.scaleKind === "unit") return norm > 0 ? value / norm : value;
    if (this.scaleKind === "none") return value;
    return (this.level(d, value) - this.offset[d]) / this.spread[d];
  }

  level(d, value) {
    if (this.ends) return interpolate(this.knots, this.levels, this.ends[d], this.ends[d + 1], value);
    const low = this.knots[2 * d];
    const span = this.knots[2 * d + 1] - low;
    return span > 0 ? (value - low) / span : value - low;
  }

  scale(x, z) {
    const norm = Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
    for (let d = 0; d < this.D; d++) z[d] = this.place(d, x[d], norm);
    return z;
  }

  // Membership of place z of feature d in term p, as its distance from the average.
  term(p, d, z) {
    if (Number.isNaN(z)) return 0;
    if (this.linear) return z - this.mean[p];
    const t = (z * this.spread[d] + this.offset[d] - this.low[p]) / (this.high[p] - this.low[p]);
    return Math.min(1, Math.max(0, t)) - this.mean[p];
  }

  // What place z of feature d adds to the score of label j, whoever the sample is.
  effect(d, z, j) {
    let sum = 0;
    for (let p = this.starts[d]; p < this.starts[d + 1]; p++) sum += this.term(p, d, z) * this.termCoef[p * this.L + j];
    return sum;
  }

  // Sums of squared distances in widths over what is there, or the largest of them where conditions are joined by their
  // minimum, and how much of each rule's features that is.
  gather(z) {
    const [raw, seen] = [new Float64Array(this.K), new Float64Array(this.K)];
    for (let k = 0, at = 0; k < this.K; k++) {
      for (let d = 0; d < this.D; d++, at++) {
        const place = z(d);
        if (Number.isNaN(place)) continue;
        raw[k] = this.joined(raw[k], (place - this.centers[at]) ** 2 / this.widths[at]);
        if (this.widths[at] < Infinity) seen[k] += this.share[d];
      }
    }
    return { raw, seen };
  }

  joined(sum, part) {
    return this.firing === "minimum" ? Math.max(sum, part) : sum + part;
  }

  // What is there counts for all; a rule of which nothing is there does not apply.
  exponents({ raw, seen }) {
    return raw.map((sum, k) => {
      if (seen[k] === this.counted[k] || (this.firing === "minimum" && seen[k] > 1e-9)) return sum;
      return seen[k] > 1e-9 ? (sum * this.counted[k]) / seen[k] : 1000;
    });
  }

  // How far each exception applies: plain memberships, or shares that add up to 1, in log space unless the model takes
  // products literally and lets them underflow.
  shares(e) {
    const least = this.firing === "softmax" ? e.reduce((a, b) => Math.min(a, b), Infinity) : 0;
    const m = e.map((exponent) => Math.exp(least - exponent));
    if (this.firing === "plain" || this.firing === "minimum") return m;
    const total = m.reduce((a, b) => a + b, 0) || Number.EPSILON;
    return m.map((share) => share / total);
  }

  // Everything about sample x; with a label, the score of that one alone.
  evaluate(x, label = -1) {
    const z = this.scale(x, new Float64Array(this.D));
    const filled = z.map((place, d) => (Number.isNaN(place) ? (this.linear ? this.mean[d] : 0) : place));
    const sums = this.gather((d) => z[d]);
    const m = this.shares(this.exponents(sums));
    return { x, z, filled, sums, m, scores: this.scores(z, filled, m, label) };
  }

  scores(z, filled, m, label) {
    const { D, L, coef, rows } = this;
    const [first, last] = label < 0 ? [0, L] : [label, label + 1];
    const out = Float64Array.from(this.intercept);
    const add = (table, row, factor) => {
      if (factor === 0) return;
      for (let j = first, at = row * L + first; j < last; j++, at++) out[j] += factor * table[at];
    };
    for (let d = 0; d < D; d++) {
      for (let p = this.starts[d]; p < this.starts[d + 1]; p++) add(this.termCoef, p, this.term(p, d, z[d]));
    }
    for (let k = 0; k < this.K; k++) {
      for (let row = 0; row < rows; row++) add(coef, k * rows + row, row ? m[k] * filled[row - 1] : m[k]);
    }
    return out;
  }

  // Calibrated probabilities of scores, or null; of several classes they add up to 1.
  chances(scores) {
    if (this.slopes && this.single) {
      const slope = this.slopes.reduce((a, b) => a + b, 0) / this.L;
      const odds = scores.map((score, j) => Math.exp(slope * (score - this.thresholds[j])));
      return odds.map((odd) => odd / odds.reduce((a, b) => a + b, 0));
    }
    return this.slopes && scores.map((score, j) => 1 / (1 + Math.exp(-(this.slopes[j] * score + this.offsets[j]))));
  }

  // Which labels the scores give: those that reach their thresholds, or the one that stands highest above its own.
  given(scores) {
    const best = this.foremost(scores);
    return Array.from(scores, (score, j) => (this.single ? j === best : score >= this.thresholds[j]));
  }

  foremost(scores) {
    const above = scores.map((score, j) => score - this.thresholds[j]);
    return above.indexOf(Math.max(...above));
  }

  // A coefficient of exception k for label j: of feature row - 1, or the constant; without slopes the others are 0.
  at(k, row, j) {
    return row < this.rows ? this.coef[(k * this.rows + row) * this.L + j] : 0;
  }

  // What exception k says about label j, at places z.
  says(k, j, z) {
    let said = this.at(k, 0, j);
    for (let row = 1; row < this.rows; row++) said += this.at(k, row, j) * z[row - 1];
    return said;
  }

  // What each exception, and what each feature in general, adds to the score of label j.
  shifts(j, now) {
    return now.m.map((share, k) => share * this.says(k, j, now.filled));
  }

  // The shifts of exceptions with slopes taken apart: of an average sample, and what each feature adds to that.
  within(j, now) {
    const parts = new Float64Array(this.D);
    now.m.forEach((share, k) => parts.forEach((_, d) => { parts[d] += share * this.at(k, d + 1, j) * (now.filled[d] - this.middle[d]); }));
    return { usual: now.m.reduce((sum, share, k) => sum + share * this.says(k, j, this.middle), 0), parts };
  }

  effects(j, now) {
    return now.z.map((z, d) => this.effect(d, z, j));
  }

  // The part of the score of label j that changes when feature d, which is there, alone moves to place z.
  along(j, d, now) {
    const { K, D, centers, widths } = this;
    now.said ??= [];
    const said = now.said[j] ??= Float64Array.from({ length: K }, (_, k) => this.says(k, j, now.filled));
    const own = (k) => (now.z[d] - centers[k * D + d]) ** 2 / widths[k * D + d];
    const other = this.firing === "minimum" ? this.gather((i) => (i === d ? NaN : now.z[i])).raw : now.sums.raw.map((sum, k) => sum - own(k));
    const raw = new Float64Array(K);
    return (z) => {
      for (let k = 0, at = d; k < K; k++, at += D) raw[k] = this.joined(other[k], (z - centers[at]) ** 2 / widths[at]);
      const m = this.shares(this.exponents({ raw, seen: now.sums.seen }));
      let sum = this.effect(d, z, j);
      for (let k = 0; k < K; k++) sum += m[k] * (said[k] + this.at(k, d + 1, j) * (z - now.z[d]));
      return sum;
    };
  }

  // What each exception adds to each label at its own centre.
  centreShifts() {
    return Array.from({ length: this.K }, (_, k) => {
      const z = this.centers.subarray(k * this.D, (k + 1) * this.D);
      const share = this.firing === "plain" || this.firing === "minimum" ? 1 : this.shares(this.exponents(this.gather((d) => z[d])))[k];
      return Float64Array.from({ length: this.L }, (_, j) => share * this.says(k, j, z));
    });
  }

  // Places of feature d at its training quantiles; what is known of a sparse one is its average.
  usualPlaces(d) {
    const reach = Math.sqrt(Math.abs(this.middle[d])); // about the standard deviation of a feature that is mostly absent
    if (!this.quantiles) return [this.middle[d] - reach, this.middle[d] + reach];
    return Array.from(this.quantiles.subarray(21 * d, 21 * d + 21), (value) => this.place(d, value, 1));
  }

  // How much a feature moves the score of label j (-1: of all labels) over the data, and half as much how far apart
  // exceptions lie on it, each next to the largest.
  relevance(j) {
    const labels = j < 0 ? [...Array(this.L).keys()] : [j];
    const moves = Float64Array.from({ length: this.D }, (_, d) => {
      const places = this.usualPlaces(d);
      const unit = spreadOf(places);
      const slope = (l) => this.weights.reduce((sum, weight, k) => sum + weight * Math.abs(this.at(k, d + 1, l)), 0);
      return labels.reduce((sum, l) => sum + spreadOf(places.map((z) => this.effect(d, z, l))) + unit * slope(l), 0);
    });
    const apart = this.separation();
    const [most, widest] = [Math.max(...moves, 1e-300), Math.max(...apart, 1e-300)];
    return moves.map((move, d) => move / most + apart[d] / widest / 2);
  }

  // How far apart the exceptions' conditions on each feature lie, in widths.
  separation() {
    const out = new Float64Array(this.D);
    for (let k = 0, at = 0; k < this.K; k++) {
      for (let d = 0; d < this.D; d++, at++) {
        out[d] += (this.weights[k] * Math.abs(this.centers[at] - this.middle[d])) / Math.sqrt(this.widths[at]);
      }
    }
    return out;
  }

  // The largest effect that a feature has on label j anywhere in the data: what curves must have room for.
  reach(j) {
    const sizes = Array.from({ length: this.D }, (_, d) => this.usualPlaces(d).map((z) => Math.abs(this.effect(d, z, j))));
    return sizes.flat().reduce((a, b) => Math.max(a, b), this.P ? 0.02 : 0.3);
  }
}

function spreadOf(values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
