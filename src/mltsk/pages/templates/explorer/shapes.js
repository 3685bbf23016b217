// The general rule of an edited model in words: the same words as those of
// `explain/shapes.py`, which wrote the ones of the model before its edits. Nothing of
// the page is in here.

const MIN_TURN = 0.25; // a curve turns where it goes back by more of its range
const MANY_TURNS = 4; // from here on a curve is told by its highest and lowest value
const LOW_SIDE = 0.4; // below, a change is told for lower values
const MAX_VALUES_TOLD = 8; // of a nominal feature
const OTHER_VALUES = "any other";
const MAX_BEND = 0.05; // of its range, by which a line may be no line
const LONG_TAIL = 2; // times the change between the outer tenths
const OUTER_TENTH = 2; // quantiles at each end
const OUTER_SHARE = 1 / 80; // of the data, in the middle of the first quantile's
const MAX_SHAPES = { all: 12, largest: 8 };
const SHARE_OF_ROUNDING = 1e-12;

// The general rule of label j: words with the feature that they are about, the largest
// effect first, and how many more there are.
function generalWords(features, system, kinds, j) {
  const shapes = subjectsOf(features, kinds).map((subject) => {
    return new EditedShape(subject, features, system, j);
  });
  const moving = shapes.filter(({ size }) => size !== 0);
  moving.sort((a, b) => b.size - a.size);
  const { all, largest: most } = MAX_SHAPES;
  const shown = moving.slice(0, moving.length <= all ? all : most);
  const more = moving.length - shown.length;
  return {
    words: shown.map((shape) => [shape.f, shape.words()]),
    more: more ? `and ${times(more, "smaller one")}` : "",
  };
}

// What statements are about: every feature, then "not measured" of those that have it.
function subjectsOf(features, { kind, frequencies, gaps }) {
  const own = features.names.map((_, f) => {
    return { f, kind: kind[f], shares: frequencies[f] ?? null };
  });
  const missing = [...features.gap.keys()].filter((f) => features.gap[f] >= 0);
  return [...own, ...missing.map((f) => ({ f, kind: MISSING, shares: gaps[f] }))];
}

// What one subject does to the score of label j.
class EditedShape {
  constructor({ f, kind, shares }, features, system, j) {
    Object.assign(this, { f, kind, shares, features, system, j });
    this.name = features.names[f];
    this.column = kind === MISSING ? features.gap[f] : features.at[f];
    this.names = kind === MISSING ? ["measured", MISSING] : features.choices[f]?.names;
    const values = kind === MISSING ? [0, 1] : features.choices[f]?.values;
    this.values = values ?? this.quantiles();
    this.amounts = this.values.map((value) => this.effect(value));
    this.size = this.sizeOf();
  }

  // Values of a number at every twentieth part of the data.
  quantiles() {
    const from = N_QUANTILES * this.column;
    return [...this.system.quantiles.subarray(from, from + N_QUANTILES)];
  }

  // What a value adds to the score.
  effect(value) {
    const { features, system, column, f, j } = this;
    if (this.kind !== "nominal") {
      return system.effect(column, system.place(column, value, 1), j);
    }
    const own = features.end[f] - column;
    const first = this.values.length - own; // the last values have columns
    return sumOf(range(own).map((i) => {
      const is = Number(value === i + first);
      return system.effect(column + i, system.place(column + i, is, 1), j);
    }));
  }

  // The standard deviation of what it adds, over the data.
  sizeOf() {
    if (this.shares) {
      const mean = dot(this.shares, this.amounts);
      const squares = this.amounts.map((y) => (y - mean) ** 2);
      return Math.sqrt(dot(this.shares, squares));
    }
    const { system, column, j } = this;
    if (system.linear) return spreadOf(this.quantiles().map((x) => this.effect(x)));
    const amounts = this.quantiles().map((value) => {
      const place = system.place(column, value, 1);
      const level = place * system.spread[column] + system.offset[column];
      const inner = clamped(level, OUTER_SHARE, 1 - OUTER_SHARE);
      const z = (inner - system.offset[column]) / system.spread[column];
      return system.effect(column, z, j);
    });
    const weights = amounts.map((_, i) => {
      const isEnd = i === 0 || i === amounts.length - 1;
      return (isEnd ? 0.5 : 1) / (amounts.length - 1);
    });
    const mean = dot(weights, amounts);
    return Math.sqrt(dot(weights, amounts.map((y) => (y - mean) ** 2)));
  }

  // The statement.
  words() {
    const { kind, names, amounts } = this;
    if (kind === MISSING) {
      const [measured, missing] = amounts.map(twoDigits);
      return `${this.name} ${MISSING}: ${missing}; measured ${measured}`;
    }
    if (kind === "nominal" || (kind === "number" && names?.length > 2)) {
      return this.valueByValue();
    }
    if (!names) return this.curveWords();
    const change = courseOf(this.values, amounts).change;
    if (names.length === 2) {
      return `${likely(change)} where ${this.name} is ${names[1]} (${twoDigits(change)})`;
    }
    const from = names.find((_, i) => amounts[i] * change > 0);
    return `${likely(change)} with higher ${this.name} (from ${from} on, ${twoDigits(change)})`;
  }

  // A curve over numbers.
  curveWords() {
    const points = distinctPoints(this.values, this.amounts);
    const unit = this.lineUnit();
    if (unit !== null) return this.lineWords(points, unit);
    const course = this.innerCourse();
    const goesBack = course.kind === "peaks" || course.kind === "dips";
    if (goesBack && turnsOf(points.y) >= MANY_TURNS) return this.extremes(points);
    const percentile = this.features.percentile(this.f, course.at);
    const at = aboutNumber(course.at, points.x);
    if (goesBack) {
      const where = `with ${fifth(percentile)} ${this.name}`;
      return `${likely(course.change)} ${where} (around ${at}, ${twoDigits(course.change)})`;
    }
    return this.sideWords(points, course, percentile, at);
  }

  // A curve that rises or falls, told for the smaller side of the data.
  sideWords(points, course, percentile, at) {
    const isLow = percentile < LOW_SIDE;
    const change = isLow ? -course.change : course.change;
    let side = isLow ? "low" : "high";
    if (fifth(percentile).endsWith(side)) side = fifth(percentile); // perhaps "very"
    const limits = `${isLow ? "below" : "above"} about ${at}`;
    const amount = `${twoDigits(change)}${this.tail(points, course, isLow)}`;
    return `${likely(change)} with ${side} ${this.name} (${limits}, ${amount})`;
  }

  // The change over all of the data, if most of it is in a long tail.
  tail({ x, y }, course, isLow) {
    const whole = y[y.length - 1] - y[0];
    const isLong = Math.abs(whole) >= LONG_TAIL * Math.abs(course.change);
    if (x.length < 2 || whole * course.change <= 0 || !isLong) return "";
    const [first, last] = [aboutNumber(x[0]), aboutNumber(x[x.length - 1])];
    if (isLow) return `; ${twoDigits(-whole)} from ${last} down to ${first}`;
    return `; ${twoDigits(whole)} from ${first} to ${last}`;
  }

  // The course of the curve, without the outer tenths where these are not all of it.
  innerCourse() {
    const cut = (list) => list.slice(OUTER_TENTH, -OUTER_TENTH);
    const inner = cut(this.values);
    if (!inner.length || inner[0] >= inner[inner.length - 1]) {
      return courseOf(this.values, this.amounts);
    }
    return courseOf(inner, cut(this.amounts));
  }

  // The round unit of a straight line, null where the curve is none.
  lineUnit() {
    if (lineUnitOf(this.values, this.amounts) === null) return null;
    const x = this.fineValues();
    return lineUnitOf(x, x.map((value) => this.effect(value)));
  }

  // Quantiles, and values at which ramps begin and end.
  fineValues() {
    const { system, column } = this;
    const quantiles = this.quantiles();
    const values = new Set(quantiles);
    const [low, high] = [quantiles[0], quantiles[quantiles.length - 1]];
    for (let p = system.starts[column]; p < system.starts[column + 1]; p++) {
      if (system.linear) break;
      for (const level of [system.low[p], system.high[p]]) {
        values.add(clamped(valueOfLevel(system, column, level), low, high));
      }
    }
    return [...values].sort((a, b) => a - b);
  }

  lineWords({ x, y }, unit) {
    const last = x.length - 1;
    const change = (y[last] / 2 - y[0] / 2) / ((x[last] / 2 - x[0] / 2) / unit);
    const slope = `${twoDigits(change)} per ${aboutNumber(unit)}`;
    const span = `from ${aboutNumber(x[0])} to ${aboutNumber(x[last])}`;
    return `${likely(y[last] - y[0])} with higher ${this.name} (${slope}, ${span})`;
  }

  // The highest and the lowest value of a curve that goes up and down.
  extremes({ x, y }) {
    const [highest, lowest] = [Math.max(...y), Math.min(...y)];
    const most = aboutNumber(x[y.lastIndexOf(highest)], x);
    const least = aboutNumber(x[y.indexOf(lowest)], x);
    return (
      `${this.name} goes up and down: most at ${most} (${twoDigits(highest)}), ` +
      `least at ${least} (${twoDigits(lowest)})`
    );
  }

  // Named values with what they add, the largest first.
  valueByValue() {
    const told = this.rankedValues().map(([value, amount], i) => {
      return `${value}${i ? " " : ": "}${twoDigits(amount)}`;
    });
    return `${this.name} = ${told.join("; ")}`;
  }

  // Values that add the same are one, the last; of very many, those in the middle.
  rankedValues() {
    const keys = this.amounts.map((y) => (Math.round(y * 1e9) || 0) / 1e9);
    const counts = new Map();
    for (const key of keys) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const [usual, count] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
    const areAlike = count > 1 && count < keys.length;
    const amounts = new Map();
    this.names.forEach((value, i) => {
      const isAlike = areAlike && keys[i] === usual;
      amounts.set(isAlike ? OTHER_VALUES : value, this.amounts[i]);
    });
    const ranked = [...amounts].sort(([a, x], [b, y]) => {
      return (a === OTHER_VALUES) - (b === OTHER_VALUES) || y - x;
    });
    if (ranked.length <= MAX_VALUES_TOLD) return ranked;
    const half = MAX_VALUES_TOLD / 2;
    const middle = ranked.slice(half, -half).map(([, y]) => y);
    const mean = sumOf(middle) / middle.length;
    const between = [`${middle.length} between`, mean];
    return [...ranked.slice(0, half), between, ...ranked.slice(-half)];
  }
}

// What a curve through points does: whether it rises, falls, peaks or dips, where it
// passes 0 or else turns, and by how much it changes.
function courseOf(x, y) {
  const last = y.length - 1;
  const [highest, lowest] = [Math.max(...y), Math.min(...y)];
  const peak = highest - Math.max(y[0], y[last]);
  const dip = Math.min(y[0], y[last]) - lowest;
  if (Math.max(peak, dip) > MIN_TURN * (highest - lowest)) {
    const isPeak = peak >= dip;
    const at = x[y.indexOf(isPeak ? highest : lowest)];
    const change = isPeak ? highest - lowest : lowest - highest;
    return { kind: isPeak ? "peaks" : "dips", at, change };
  }
  const rises = y[last] >= y[0];
  let most = -Infinity;
  const rising = y.map((value) => {
    most = Math.max(most, rises ? value : -value);
    return most;
  });
  const change = y[last] - y[0];
  return { kind: rises ? "rises" : "falls", at: whereZero(rising, x), change };
}

// Where numbers that never fall pass 0, between points x.
function whereZero(rising, x) {
  const last = x.length - 1;
  if (rising[0] > 0) return x[0];
  if (rising[last] <= 0) return x[last];
  const i = lastNotAbove(rising, 0, x.length, 0);
  const slope = (x[i + 1] - x[i]) / (rising[i + 1] - rising[i]);
  return x[i] - slope * rising[i];
}

// How often a curve turns.
function turnsOf(y) {
  const leastTurn = MIN_TURN * (Math.max(...y) - Math.min(...y));
  let [turns, direction, extreme] = [-1, 0, y[0]]; // the first way is no turn
  for (const value of y) {
    const back = value - extreme;
    if (direction * back > 0) {
      extreme = value;
    } else if (Math.abs(back) > leastTurn) {
      turns++;
      direction = Math.sign(back);
      extreme = value;
    }
  }
  return Math.max(turns, 0);
}

// The round unit in which a line through points is told, null where there is no line.
function lineUnitOf(x, y) {
  const last = x.length - 1;
  const span = x[last] / 2 - x[0] / 2;
  if (span <= 0 || y[0] === y[last]) return null;
  const halves = y.map((value) => value / 2);
  const bends = halves.map((value, i) => {
    const share = (x[i] / 2 - x[0] / 2) / span;
    return Math.abs(value - halves[0] - share * (halves[last] - halves[0]));
  });
  const reach = Math.max(...halves) - Math.min(...halves);
  if (Math.max(...bends) > MAX_BEND * reach) return null;
  return Number(`1e${Math.floor(Math.log10(span))}`);
}

// Each value once, rising, with what the first of its kind adds.
function distinctPoints(x, y) {
  const kept = [...x.keys()].filter((i) => i === 0 || x[i] !== x[i - 1]);
  return { x: kept.map((i) => x[i]), y: kept.map((i) => y[i]) };
}

// The value of column d at a level (0..1) of its scale.
function valueOfLevel(system, d, level) {
  if (system.ends) {
    const [from, to] = [system.ends[d], system.ends[d + 1]];
    return interpolate(system.levels, system.knots, from, to, level);
  }
  const low = system.knots[2 * d];
  return low + clamped(level, 0, 1) * (system.knots[2 * d + 1] - low);
}

function likely(change) {
  return change > 0 ? "more likely" : "less likely";
}

// A number of some significant digits, as Python writes it; zeros stay if asked for.
function significant(x, digits, keepsZeros) {
  const [mantissa, power] = x.toExponential(digits - 1).split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < digits) {
    const text = x.toFixed(Math.max(0, digits - 1 - exponent));
    const isCut = keepsZeros || !text.includes(".");
    return isCut ? text : text.replace(/\.?0+$/, "");
  }
  const short = keepsZeros ? mantissa : mantissa.replace(/\.?0+$/, "");
  const size = String(Math.abs(exponent)).padStart(2, "0");
  return `${short}e${exponent < 0 ? "-" : "+"}${size}`;
}

// A change with its sign and two significant digits, or all before the point.
function twoDigits(x) {
  const sign = x < 0 ? "-" : "+";
  const size = Math.abs(x);
  if (size >= 10 && size < 1e7) return sign + counted(Math.round(size));
  return sign + significant(size, 2, true);
}

// A value of three digits; what is nothing next to all values is 0.
function aboutNumber(x, values = [1]) {
  const largestValue = Math.max(...values.map(Math.abs));
  if (Math.abs(x) <= SHARE_OF_ROUNDING * largestValue) return "0";
  if (Math.abs(x) >= 1000 && Math.abs(x) < 1e9) return counted(Math.round(x));
  return significant(x, 3, false);
}
