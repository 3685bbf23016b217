// The fuzzy system: arithmetic on typed arrays, nothing of the page.
// Symbols: K rules, D features, L labels; x a sample in the caller's units, z the same on the scale of the rules,
// m the share of each rule. Everything is float64, as in Python.

const ABSENT = 1e300; // widths from here on are no condition

function unpack(text, Type) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Type(bytes.buffer);
}

// Coefficients come without their zeros: one bit each says where the others belong.
function unpackSparse(packed, size) {
  const mask = unpack(packed.mask, Uint8Array);
  const values = unpack(packed.values, Float64Array);
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
    const floats = (text) => unpack(text, Float64Array);
    [this.K, this.D, this.L] = data.shape;
    this.thresholds = floats(data.thresholds);
    this.weights = floats(data.weights);
    this.centers = floats(data.centers);
    this.widths = floats(data.widths);
    this.coef = unpackSparse(data.coef, this.K * (this.D + 1) * this.L);
    this.reference = floats(data.reference);
    this.middle = floats(data.middle);
    this.spreads = floats(data.spreads);
    this.literal = data.underflow === "authors";
    this.single = data.single;
    this.scaleKind = data.scale.kind;
    if (this.scaleKind === "knots" || this.scaleKind === "linear") {
      this.offset = floats(data.scale.offset);
      this.spread = floats(data.scale.spread);
      this.knots = floats(data.scale.values);
      this.levels = this.scaleKind === "knots" ? floats(data.scale.levels) : null;
      this.ends = this.scaleKind === "knots" ? unpack(data.scale.ends, Uint32Array) : null;
    }
  }

  // Where a value lies on the scale of feature d; norm is the length of its row where rows have unit length.
  place(d, value, norm) {
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
    let norm = 0;
    if (this.scaleKind === "unit") {
      for (let d = 0; d < this.D; d++) norm += x[d] * x[d];
      norm = Math.sqrt(norm);
    }
    for (let d = 0; d < this.D; d++) z[d] = this.place(d, x[d], norm);
    return z;
  }

  // Share of each rule; in log space, unless the model takes the product literally and lets it underflow.
  fire(z, m) {
    let least = Infinity;
    for (let k = 0; k < this.K; k++) {
      m[k] = 0;
      for (let d = 0, at = k * this.D; d < this.D; d++, at++) {
        const away = z[d] - this.centers[at];
        m[k] += (away * away) / this.widths[at];
      }
      if (m[k] < least) least = m[k];
    }
    let total = 0;
    for (let k = 0; k < this.K; k++) total += m[k] = Math.exp(this.literal ? -m[k] : least - m[k]);
    if (total === 0) total = Number.EPSILON;
    for (let k = 0; k < this.K; k++) m[k] /= total;
    return m;
  }

  scores(z, m, out) {
    out.fill(0);
    const { D, L, coef } = this;
    for (let k = 0; k < this.K; k++) {
      if (m[k] === 0) continue;
      let at = k * (D + 1) * L;
      for (let j = 0; j < L; j++, at++) out[j] += m[k] * coef[at];
      for (let d = 0; d < D; d++) {
        const factor = m[k] * z[d];
        for (let j = 0; j < L; j++, at++) out[j] += factor * coef[at];
      }
    }
    return out;
  }

  evaluate(x) {
    const z = this.scale(x, new Float64Array(this.D));
    const m = this.fire(z, new Float64Array(this.K));
    return { z, m, scores: this.scores(z, m, new Float64Array(this.L)) };
  }

  // Which labels the scores give: those that reach their thresholds, or the one that stands highest above its own.
  given(scores) {
    const flags = Array.from(scores, (score, j) => score >= this.thresholds[j]);
    if (!this.single) return flags;
    let best = 0;
    for (let j = 1; j < this.L; j++) {
      if (scores[j] - this.thresholds[j] > scores[best] - this.thresholds[best]) best = j;
    }
    return flags.map((_, j) => j === best);
  }

  at(k, e, j) {
    return this.coef[(k * (this.D + 1) + e) * this.L + j];
  }

  // What each rule adds to the score of label j.
  byRule(j, z, m) {
    const parts = new Float64Array(this.K);
    for (let k = 0; k < this.K; k++) {
      let said = this.at(k, 0, j);
      for (let d = 0; d < this.D; d++) said += this.at(k, d + 1, j) * z[d];
      parts[k] = m[k] * said;
    }
    return parts;
  }

  // What the average sample would get from these shares, and what each feature adds to that.
  byFeature(j, z, m) {
    const parts = new Float64Array(this.D);
    let base = 0;
    for (let k = 0; k < this.K; k++) {
      base += m[k] * this.at(k, 0, j);
      for (let d = 0; d < this.D; d++) parts[d] += m[k] * this.at(k, d + 1, j);
    }
    for (let d = 0; d < this.D; d++) {
      base += parts[d] * this.reference[d];
      parts[d] *= z[d] - this.reference[d];
    }
    return { base, parts };
  }

  // How much one standard deviation of each feature moves the score of label j (-1: of all labels).
  importance(j) {
    const out = new Float64Array(this.D);
    const from = j < 0 ? 0 : j;
    const to = j < 0 ? this.L : j + 1;
    for (let k = 0; k < this.K; k++) {
      for (let d = 0; d < this.D; d++) {
        let sum = 0;
        for (let l = from; l < to; l++) sum += Math.abs(this.at(k, d + 1, l));
        out[d] += this.weights[k] * sum * this.spreads[d];
      }
    }
    return out;
  }

  // How far apart the rules' conditions on each feature lie, in widths.
  separation() {
    const out = new Float64Array(this.D);
    for (let k = 0; k < this.K; k++) {
      for (let d = 0; d < this.D; d++) out[d] += this.weights[k] * Math.abs(this.distinct(k, d));
    }
    return out;
  }

  // What a feature does in THEN-parts, and half as much what it does in IF-parts, each beside the largest.
  relevance(j) {
    const [effects, apart] = [this.importance(j), this.separation()];
    const [most, widest] = [Math.max(...effects, 1e-300), Math.max(...apart, 1e-300)];
    return effects.map((effect, d) => effect / most + apart[d] / widest / 2);
  }

  hasCondition(k, d) {
    return this.widths[k * this.D + d] < ABSENT;
  }

  distinct(k, d) {
    const at = k * this.D + d;
    return (this.centers[at] - this.middle[d]) / Math.sqrt(this.widths[at]);
  }

  // Membership of a value at place z on the scale of the rules.
  membership(k, d, z) {
    const at = k * this.D + d;
    const away = z - this.centers[at];
    return Math.exp((-away * away) / this.widths[at]);
  }
}
