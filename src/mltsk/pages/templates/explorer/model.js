// The fuzzy system: arithmetic on typed arrays, nothing of the page.
//
// Symbols, as in the paper and in Python:
//   K  exceptions
//   D  columns of numbers (features, or parts of them)
//   L  labels
//   P  terms of the general rule
//   R  rules of pairs of features
//   x  a sample in the caller's units, NaN where a value is missing
//   z  the same sample on the scale of the rules
//   m  how far each exception applies
// `filled` is z with averages in place of missing values. Everything is float64.

const N_QUANTILES = 21; // per column: every twentieth part of the training rows
const ABSENT_EXPONENT = 1000; // of a rule that does not apply: exp(-1000) = 0
const LEAST_REACH = { logOdds: 0.1, scores: 0.02 }; // that a curve has room for
const CELL_TYPES = {
  u1: Uint8Array,
  "<i2": Int16Array,
  "<i4": Int32Array,
  "<f8": Float64Array,
};
const MISSING_CELL = { "<i2": -(2 ** 15), "<i4": -(2 ** 31) };

// Array of a type from base64 of its bytes; what is an array already stays one.
function unpack(text, Type) {
  if (text instanceof Type) return text;
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    bytes[i] = raw.charCodeAt(i);
  }
  return new Type(bytes.buffer);
}

// Float64Array from base64 of its bytes, or null for null.
function unpackFloats(text) {
  return text === null ? null : unpack(text, Float64Array);
}

// Bit number `at` of an array of bytes, the lowest bit of each byte first.
function bitOf(bytes, at) {
  return (bytes[at >> 3] >> (at & 7)) & 1;
}

// Coefficients, which come without their zeros: one bit each says where the others are.
function unpackSparse(packed, size) {
  if (packed instanceof Float64Array) return packed;
  const mask = unpack(packed.mask, Uint8Array);
  const values = unpack(packed.values, packed.single ? Float32Array : Float64Array);
  const out = new Float64Array(size);
  let next = 0;
  for (let i = 0; i < size; i++) {
    if (bitOf(mask, i)) {
      out[i] = values[next];
      next++;
    }
  }
  return out;
}

// Values of a column that was written as codes of its distinct values, or as whole
// numbers of a decimal unit.
function readColumn([kind, text, distinct, decimals]) {
  const cells = unpack(text, CELL_TYPES[kind]);
  if (distinct) {
    const values = unpack(distinct, Float64Array);
    return Float64Array.from(cells, (code) => values[code]);
  }
  const unit = Number(`1e${decimals}`);
  return Float64Array.from(cells, (cell) => {
    return cell === MISSING_CELL[kind] ? NaN : cell / unit;
  });
}

// A table of so many rows from columns, each written in its own shortest way.
function readColumns(columns, count) {
  const table = new Float64Array(count * columns.length);
  columns.forEach((column, d) => {
    readColumn(column).forEach((value, i) => {
      table[i * columns.length + d] = value;
    });
  });
  return table;
}

// The whole numbers from 0 to count - 1.
function range(count) {
  return [...Array(count).keys()];
}

// Sum of all values.
function sumOf(values) {
  return values.reduce((a, b) => a + b, 0);
}

// Length of a vector.
function lengthOf(x) {
  return Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));
}

// A value, moved to the nearer end where it lies outside of low..high.
function clamped(value, low, high) {
  return Math.min(high, Math.max(low, value));
}

// Standard deviation of some values.
function spreadOf(values) {
  const mean = sumOf(values) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / values.length);
}

// Index of the last entry of the rising table[from..to) that is not above value;
// `from` if all are above it.
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

// Linear between the knots xs[from..to), ys[from..to) and constant beyond them.
function interpolate(xs, ys, from, to, value) {
  if (!(value > xs[from])) return ys[from];
  if (value >= xs[to - 1]) return ys[to - 1];
  const i = lastNotAbove(xs, from, to, value);
  const slope = (ys[i + 1] - ys[i]) / (xs[i + 1] - xs[i]);
  return ys[i] + slope * (value - xs[i]);
}

// The probability of log-odds.
function probability(logOdds) {
  return 1 / (1 + Math.exp(-logOdds));
}

const SYSTEM_ARRAYS = [
  "share",
  "thresholds",
  "intercept",
  "weights",
  "usual",
  "middle",
  "quantiles",
];

class FuzzySystem {
  constructor(data) {
    [this.K, this.D, this.L, this.P] = data.shape;
    this.hasLogOdds = data.hasLogOdds;
    for (const name of SYSTEM_ARRAYS) {
      this[name] = unpackFloats(data[name]);
    }
    this.widths = this.readWidths(data.widths);
    this.firing = data.firing;
    this.single = data.single;
    this.rows = data.order ? this.D + 1 : 1; // of a consequent
    this.coef = unpackSparse(data.coef, this.K * this.rows * this.L);
    this.readScale(data.scale);
    this.readCenters(data);
    this.counted = this.gather(() => 0).seen; // how much all conditions of a rule count
    this.readTerms(data.terms);
    this.readPairs(data.pairs);
  }

  // Widths of all rules and columns; where they are equal, one number comes for all.
  readWidths(text) {
    const widths = unpackFloats(text);
    if (widths.length !== 1) return widths;
    return new Float64Array(this.K * this.D).fill(widths[0]);
  }

  // How values become places on the scale of the rules.
  readScale(scale) {
    this.scaleKind = scale.kind;
    if (scale.kind === "unit" || scale.kind === "none") return;
    this.offset = unpackFloats(scale.offset);
    this.spread = unpackFloats(scale.spread);
    this.knots = unpackFloats(scale.values);
    this.levels = unpackFloats(scale.levels);
    this.ends = this.levels && unpackFloats(scale.ends);
  }

  // Centres of the rules on their scale, and in the caller's units. Very many come in
  // the latter alone.
  readCenters({ centers, prototypes }) {
    const { K, D } = this;
    if (centers !== null) {
      this.centers = unpackFloats(centers);
      this.prototypes = unpackFloats(prototypes);
      return;
    }
    this.prototypes = readColumns(prototypes, K);
    this.centers = this.prototypes.map((value, at) => this.place(at % D, value, 1));
  }

  // Terms come sorted by column: those of column d are starts[d]..starts[d + 1].
  readTerms(terms) {
    this.linear = terms.low === null;
    this.low = unpackFloats(terms.low);
    this.high = unpackFloats(terms.high);
    this.mean = unpackFloats(terms.mean);
    this.straight = terms.straight && unpack(terms.straight, Uint8Array);
    this.rangeShares = this.straight && this.sharesOfRange();
    this.termCoef = unpackSparse(terms.coef, this.P * this.L);
    this.starts = new Uint32Array(this.D + 1);
    for (const d of unpack(terms.feature, Uint32Array)) {
      this.starts[d + 1]++;
    }
    for (let d = 0; d < this.D; d++) {
      this.starts[d + 1] += this.starts[d];
    }
  }

  // How far each knot of a scale is from the least value of its column (0) to the
  // largest (1). Halves, as a distance may be larger than all numbers.
  sharesOfRange() {
    const shares = new Float64Array(this.knots.length);
    for (let d = 0; d < this.D; d++) {
      const [from, to] = [this.ends[d], this.ends[d + 1]];
      const low = this.knots[from] / 2;
      const span = this.knots[to - 1] / 2 - low;
      for (let i = from; i < to && span > 0; i++) {
        shares[i] = clamped((this.knots[i] / 2 - low) / span, 0, 1);
      }
    }
    return shares;
  }

  // Rules of two conditions, those of a pair of features next to each other. A pair has
  // the rules from..to: each condition of one feature with each of the other.
  readPairs(pairs) {
    this.conditions = {
      column: unpack(pairs.column, Uint32Array),
      left: unpackFloats(pairs.left),
      peak: unpackFloats(pairs.peak),
      right: unpackFloats(pairs.right),
      mean: unpackFloats(pairs.mean),
    };
    this.first = unpack(pairs.first, Uint32Array);
    this.second = unpack(pairs.second, Uint32Array);
    this.pairCoef = unpackSparse(pairs.coef, this.first.length * this.L);
    this.pairs = [];
    for (const { count, shares } of pairs.blocks) {
      const from = this.pairs.at(-1)?.to ?? 0;
      this.pairs.push({ ...this.pairOf(from, from + count), shares });
    }
  }

  // The pair of features that has the rules from..to: its two columns, and the
  // conditions on each.
  pairOf(from, to) {
    const conditions = [this.first, this.second].map((table) => {
      return [...new Set(table.subarray(from, to))];
    });
    const columns = conditions.map(([any]) => this.conditions.column[any]);
    return { from, to, conditions, columns };
  }

  // Whether how far a rule applies depends on that rule alone, not on the others.
  get firesAlone() {
    return this.firing === "plain" || this.firing === "minimum";
  }

  // Where a value lies on the scale of column d; norm is the length of its row, which
  // counts where rows have unit length.
  place(d, value, norm) {
    if (Number.isNaN(value)) return NaN;
    if (this.scaleKind === "unit") return norm > 0 ? value / norm : value;
    if (this.scaleKind === "none") return value;
    return (this.level(d, value) - this.offset[d]) / this.spread[d];
  }

  // A value of column d between its smallest (0) and its largest (1).
  level(d, value) {
    if (this.ends) {
      const [from, to] = [this.ends[d], this.ends[d + 1]];
      return interpolate(this.knots, this.levels, from, to, value);
    }
    const low = this.knots[2 * d];
    const span = this.knots[2 * d + 1] - low;
    return span > 0 ? (value - low) / span : value - low;
  }

  // Write the places of sample x into z.
  scale(x, z) {
    const norm = lengthOf(x);
    for (let d = 0; d < this.D; d++) {
      z[d] = this.place(d, x[d], norm);
    }
    return z;
  }

  // Membership of place z of column d in term p, as its distance from the average.
  term(p, d, z) {
    if (Number.isNaN(z)) return 0;
    if (this.linear) return z - this.mean[p];
    const level = z * this.spread[d] + this.offset[d];
    if (this.straight?.[p]) {
      const [from, to] = [this.ends[d], this.ends[d + 1]];
      const share = interpolate(this.levels, this.rangeShares, from, to, level);
      return share - this.mean[p];
    }
    const membership = (level - this.low[p]) / (this.high[p] - this.low[p]);
    return clamped(membership, 0, 1) - this.mean[p];
  }

  // How far place z meets condition c of a pair (0..1); NaN where it is missing.
  meets(c, z) {
    const { column, left, peak, right } = this.conditions;
    const level = z * this.spread[column[c]] + this.offset[column[c]];
    const side = (end) => {
      if (end === peak[c]) return Number.isNaN(z) ? NaN : 1; // flat
      return clamped((level - end) / (peak[c] - end), 0, 1);
    };
    return Math.min(side(left[c]), side(right[c]));
  }

  // How far place z meets condition c above its average; what is missing counts as the
  // average.
  above(c, z) {
    const met = this.meets(c, z);
    return Number.isNaN(met) ? 0 : met - this.conditions.mean[c];
  }

  // How far places z fire each rule of a pair.
  paired(z) {
    const { column } = this.conditions;
    const above = Float64Array.from(column, (d, c) => this.above(c, z[d]));
    return Float64Array.from(this.first, (first, r) => {
      return above[first] * above[this.second[r]];
    });
  }

  // What place z of column d adds to the score of label j, for every sample.
  effect(d, z, j) {
    let sum = 0;
    for (let p = this.starts[d]; p < this.starts[d + 1]; p++) {
      sum += this.term(p, d, z) * this.termCoef[p * this.L + j];
    }
    return sum;
  }

  // For each rule: `raw`, the sum of squared distances in widths over the places that
  // are not missing (the largest where conditions are joined by their minimum), and
  // `seen`, how much these places count.
  gather(placeOf) {
    const raw = new Float64Array(this.K);
    const seen = new Float64Array(this.K);
    for (let k = 0, at = 0; k < this.K; k++) {
      for (let d = 0; d < this.D; d++, at++) {
        const place = placeOf(d);
        if (Number.isNaN(place)) continue;
        const distance = (place - this.centers[at]) ** 2 / this.widths[at];
        raw[k] = this.joined(raw[k], distance);
        if (this.widths[at] < Infinity) seen[k] += this.share[d];
      }
    }
    return { raw, seen };
  }

  // One more distance joined to those before it.
  joined(before, distance) {
    return this.firing === "minimum" ? Math.max(before, distance) : before + distance;
  }

  // What is not missing counts for all; a rule of which all is missing does not apply.
  exponents({ raw, seen }) {
    return raw.map((sum, k) => {
      if (seen[k] === this.counted[k]) return sum;
      if (seen[k] <= 1e-9) return ABSENT_EXPONENT;
      return this.firing === "minimum" ? sum : (sum * this.counted[k]) / seen[k];
    });
  }

  // How far each exception applies: plain memberships, or shares that add up to 1. With
  // "softmax" the smallest exponent is taken off first; without it, products underflow.
  shares(exponents) {
    let least = 0;
    if (this.firing === "softmax") {
      least = exponents.reduce((a, b) => Math.min(a, b), Infinity);
    }
    const m = exponents.map((exponent) => Math.exp(least - exponent));
    if (this.firesAlone) return m;
    const total = sumOf(m) || Number.EPSILON;
    return m.map((share) => share / total);
  }

  // Everything about sample x; with a label, the score of that one alone.
  evaluate(x, label = -1) {
    const z = this.scale(x, new Float64Array(this.D));
    const filled = z.map((place, d) => this.filledPlace(place, d));
    const sums = this.gather((d) => z[d]);
    const m = this.shares(this.exponents(sums));
    const now = { x, z, filled, sums, m, paired: this.paired(z) };
    return { ...now, scores: this.scores(now, label) };
  }

  // A place, or the average of column d where it is missing.
  filledPlace(place, d) {
    if (!Number.isNaN(place)) return place;
    return this.linear ? this.mean[d] : 0;
  }

  // Scores of all labels, or of one; the others then keep their intercept.
  scores({ z, filled, m, paired }, label) {
    const { K, D, L, rows } = this;
    const first = label < 0 ? 0 : label;
    const last = label < 0 ? L : label + 1;
    const out = Float64Array.from(this.intercept);
    const add = (table, row, factor) => {
      if (factor === 0) return;
      for (let j = first, at = row * L + first; j < last; j++, at++) {
        out[j] += factor * table[at];
      }
    };
    for (let d = 0; d < D; d++) {
      for (let p = this.starts[d]; p < this.starts[d + 1]; p++) {
        add(this.termCoef, p, this.term(p, d, z[d]));
      }
    }
    paired.forEach((amount, r) => add(this.pairCoef, r, amount));
    for (let k = 0; k < K; k++) {
      add(this.coef, k * rows, m[k]);
      for (let row = 1; row < rows; row++) {
        add(this.coef, k * rows + row, m[k] * filled[row - 1]);
      }
    }
    return out;
  }

  // Probabilities of scores, which are log-odds, or null where they are not; of several classes they add up to 1.
  chances(scores) {
    if (!this.hasLogOdds) return null;
    if (!this.single) return scores.map(probability);
    const shares = scores.map((score, j) => probability(score - this.thresholds[j]));
    const total = sumOf(shares);
    return shares.map((share) => share / total);
  }

  // Which labels the scores give: those that reach their thresholds, or the one class
  // that stands highest above its own.
  given(scores) {
    if (this.single) {
      const best = this.foremost(scores);
      return Array.from(scores, (_, j) => j === best);
    }
    return Array.from(scores, (score, j) => score >= this.thresholds[j]);
  }

  // The label that stands highest above its threshold.
  foremost(scores) {
    const above = scores.map((score, j) => score - this.thresholds[j]);
    return above.indexOf(Math.max(...above));
  }

  // Coefficient of exception k for label j: the constant (row 0), or that of column
  // row - 1, which is 0 where the model has no slopes.
  at(k, row, j) {
    return row < this.rows ? this.coef[(k * this.rows + row) * this.L + j] : 0;
  }

  // What exception k says about label j, at places z.
  says(k, j, z) {
    let amount = this.at(k, 0, j);
    for (let row = 1; row < this.rows; row++) {
      amount += this.at(k, row, j) * z[row - 1];
    }
    return amount;
  }

  // What each exception adds to the score of label j.
  shifts(j, now) {
    return now.m.map((share, k) => (share - this.usual[k]) * this.says(k, j, now.filled));
  }

  // Where the score of label j begins. Exceptions that only shift begin at what they add
  // on average.
  base(j) {
    let sum = this.intercept[j];
    for (let k = 0; k < this.K; k++) {
      if (this.usual[k]) sum += this.usual[k] * this.at(k, 0, j);
    }
    return sum;
  }

  // What each column adds to the score of label j in general.
  effects(j, now) {
    return now.z.map((z, d) => this.effect(d, z, j));
  }

  // What each pair of features adds to the score of label j, on top of what each
  // feature adds alone.
  pairEffects(j, now) {
    return Float64Array.from(this.pairs, ({ from, to }) => {
      let sum = 0;
      for (let r = from; r < to; r++) {
        sum += now.paired[r] * this.pairCoef[r * this.L + j];
      }
      return sum;
    });
  }

  // What a pair adds to label j where its conditions are wholly met: a row per
  // condition on the first column, with the smaller one of two values first.
  pairHeights({ from, conditions }, j) {
    const [rows, columns] = conditions.map((own) => this.metConditions(own));
    return rows.map((row) => columns.map((column) => {
      let height = 0;
      row.forEach((first, a) => column.forEach((second, b) => {
        const r = from + a * column.length + b;
        height += first * second * this.pairCoef[r * this.L + j];
      }));
      return height;
    }));
  }

  // How far each condition of a column is met above its average, where each is wholly
  // met. A column of two values has one condition, which is first not met at all.
  metConditions(own) {
    const { left, peak, mean } = this.conditions;
    const isOfTwo = own.length === 1 && left[own[0]] < peak[own[0]];
    const places = isOfTwo ? [-1, 0] : own.map((_, place) => place);
    return places.map((place) => own.map((c, i) => (i === place ? 1 : 0) - mean[c]));
  }

  // How much a pair moves the score of label j: the standard deviation of its heights,
  // each with the share of the data around it.
  pairSize(pair, j) {
    const heights = this.pairHeights(pair, j).flat();
    const shares = pair.shares.flat();
    return Math.sqrt(sumOf(heights.map((height, i) => shares[i] * height ** 2)));
  }

  // The shifts of exceptions with slopes taken apart: `usual`, that of an average
  // sample, and `parts`, what each column adds to it.
  within(j, now) {
    const parts = new Float64Array(this.D);
    let usual = 0;
    now.m.forEach((share, k) => {
      usual += share * this.says(k, j, this.middle);
      for (let d = 0; d < this.D; d++) {
        const distance = now.filled[d] - this.middle[d];
        parts[d] += share * this.at(k, d + 1, j) * distance;
      }
    });
    return { usual, parts };
  }

  // The part of the score of label j that changes when column d, which is not missing,
  // alone moves: a function of its place z.
  along(j, d, now) {
    const pairs = this.pairsAlong(j, d, now);
    const shifts = this.firesAlone
      ? this.shiftsAlone(j, d, now)
      : this.shiftsTogether(j, d, now);
    return (z) => this.effect(d, z, j) + pairs(z) + shifts(z);
  }

  // What exceptions shift label j where how far each applies depends on the others: a
  // function of the place z of column d.
  shiftsTogether(j, d, now) {
    const { K, D, centers, widths } = this;
    const said = this.saidNow(j, now);
    const other = this.distancesWithout(d, now);
    const raw = new Float64Array(K);
    return (z) => {
      for (let k = 0, at = d; k < K; k++, at += D) {
        raw[k] = this.joined(other[k], (z - centers[at]) ** 2 / widths[at]);
      }
      const m = this.shares(this.exponents({ raw, seen: now.sums.seen }));
      return m.reduce((sum, share, k) => {
        return sum + share * (said[k] + this.at(k, d + 1, j) * (z - now.z[d]));
      }, 0);
    };
  }

  // The same where each exception stands alone: thousands of them take one loop.
  shiftsAlone(j, d, now) {
    const { K, D, centers, widths, counted } = this;
    const { seen } = now.sums;
    const isMinimum = this.firing === "minimum";
    const applies = range(K).filter((k) => seen[k] === counted[k] || seen[k] > 1e-9);
    const said = this.saidNow(j, now);
    const other = this.distancesWithout(d, now);
    const slopes = Float64Array.from(range(K), (k) => this.at(k, d + 1, j));
    const stretch = Float64Array.from(range(K), (k) => {
      return isMinimum || seen[k] === counted[k] ? 1 : counted[k] / seen[k];
    });
    return (z) => {
      const step = z - now.z[d];
      let sum = 0;
      for (const k of applies) {
        const at = k * D + d;
        const distance = (z - centers[at]) ** 2 / widths[at];
        const exponent = isMinimum
          ? Math.max(other[k], distance)
          : (other[k] + distance) * stretch[k];
        sum += Math.exp(-exponent) * (said[k] + slopes[k] * step);
      }
      return sum;
    };
  }

  // What pairs with column d add to the score of label j, but for a constant: a
  // function of its place z.
  pairsAlong(j, d, now) {
    const factors = new Map(); // condition on d -> its number, with the other as it is
    for (const { from, to, columns } of this.pairs) {
      const side = columns.indexOf(d);
      if (side < 0 || Number.isNaN(now.z[columns[1 - side]])) continue;
      const own = side === 0 ? this.first : this.second;
      const others = side === 0 ? this.second : this.first;
      for (let r = from; r < to; r++) {
        const above = this.above(others[r], now.z[columns[1 - side]]);
        const factor = above * this.pairCoef[r * this.L + j];
        factors.set(own[r], (factors.get(own[r]) ?? 0) + factor);
      }
    }
    const entries = [...factors].filter(([, factor]) => factor !== 0);
    return (z) => {
      return entries.reduce((sum, [c, factor]) => sum + factor * this.meets(c, z), 0);
    };
  }

  // Whether column d is in a pair.
  isPaired(d) {
    return this.pairs.some(({ columns }) => columns.includes(d));
  }

  // What each exception says about label j now; kept, as each curve asks for it.
  saidNow(j, now) {
    now.said ??= [];
    now.said[j] ??= Float64Array.from(range(this.K), (k) => {
      return this.says(k, j, now.filled);
    });
    return now.said[j];
  }

  // Distance of the sample from each rule, over all columns but d.
  distancesWithout(d, now) {
    if (this.firing === "minimum") {
      return this.gather((other) => (other === d ? NaN : now.z[other])).raw;
    }
    return now.sums.raw.map((sum, k) => {
      const at = k * this.D + d;
      return sum - (now.z[d] - this.centers[at]) ** 2 / this.widths[at];
    });
  }

  // What each exception adds to each label at its own centre.
  centreShifts() {
    return range(this.K).map((k) => {
      const z = this.centers.subarray(k * this.D, (k + 1) * this.D);
      const share = this.firesAlone ? 1 : this.sharesAt(z)[k];
      return Float64Array.from(range(this.L), (j) => share * this.says(k, j, z));
    });
  }

  // How far each exception applies at places z.
  sharesAt(z) {
    return this.shares(this.exponents(this.gather((d) => z[d])));
  }

  // Places of column d at its training quantiles. Of a sparse column only the average
  // is known: its root is about the standard deviation of a value that is mostly
  // absent.
  usualPlaces(d) {
    if (!this.quantiles) {
      const reach = Math.sqrt(Math.abs(this.middle[d]));
      return [this.middle[d] - reach, this.middle[d] + reach];
    }
    const from = N_QUANTILES * d;
    const values = this.quantiles.subarray(from, from + N_QUANTILES);
    return Array.from(values, (value) => this.place(d, value, 1));
  }

  // How much each column moves the score of label j (-1: of all labels) over the data,
  // plus half of how far apart exceptions lie on it, each next to the largest.
  relevance(j) {
    const labels = j < 0 ? range(this.L) : [j];
    const moves = Float64Array.from(range(this.D), (d) => this.movesOf(d, labels));
    const apart = this.separation();
    const most = Math.max(...moves, 1e-300);
    const widest = Math.max(...apart, 1e-300);
    return moves.map((move, d) => move / most + apart[d] / widest / 2);
  }

  // How much column d moves the scores of some labels, over its usual places.
  movesOf(d, labels) {
    const places = this.usualPlaces(d);
    const unit = spreadOf(places);
    const pairs = this.pairs.filter(({ columns }) => columns.includes(d));
    return labels.reduce((sum, j) => {
      const effects = places.map((z) => this.effect(d, z, j));
      const together = sumOf(pairs.map((pair) => this.pairSize(pair, j)));
      return sum + spreadOf(effects) + unit * this.meanSlope(d, j) + together;
    }, 0);
  }

  // Mean size of the slopes of exceptions for column d and label j.
  meanSlope(d, j) {
    if (this.rows < 2) return 0;
    return this.weights.reduce((sum, weight, k) => {
      return sum + weight * Math.abs(this.at(k, d + 1, j));
    }, 0);
  }

  // How far apart the exceptions' conditions on each column lie, in widths.
  separation() {
    const out = new Float64Array(this.D);
    for (let k = 0, at = 0; k < this.K; k++) {
      for (let d = 0; d < this.D; d++, at++) {
        const distance = Math.abs(this.centers[at] - this.middle[d]);
        out[d] += (this.weights[k] * distance) / Math.sqrt(this.widths[at]);
      }
    }
    return out;
  }

  // The largest effect of any column on label j anywhere in the data, and no less than
  // a little: what curves must have room for.
  reach(j) {
    const least = this.hasLogOdds ? LEAST_REACH.logOdds : LEAST_REACH.scores;
    let most = this.P ? least : 15 * least;
    for (let d = 0; d < this.D; d++) {
      for (const z of this.usualPlaces(d)) {
        most = Math.max(most, Math.abs(this.effect(d, z, j)));
      }
    }
    return most;
  }
}
