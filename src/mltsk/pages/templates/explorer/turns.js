// What would turn an answer: for each feature by itself, the nearest value within the
// data with which the label comes or goes. Changes are measured in percentiles; another
// value without an order counts as half the data.

const SCANNED_PLACES = 100; // along a slider; a quarter of them where that takes long
const LARGE_SYSTEM = 2_000; // conditions of all exceptions
const UNORDERED_CHANGE = 0.5;
const MAX_OVERSHOOT = 0.01; // of a number that is easier to say
const MAX_DIGITS = 12;

class Turns {
  constructor(features, system) {
    Object.assign(this, { features, system });
  }

  // Whether label j is given now, and the few smallest changes that would turn that: {
  // f, value, change, words, was }. Which they are is found by what each feature alone
  // adds; each is then tried on the whole model.
  of(j, x, now, among, count) {
    const given = this.system.given(now.scores)[j];
    const sought = { j, x, now, given };
    const rough = among.flatMap((f) => this.candidates(f, sought)).sort(bySize);
    const turns = new Map();
    for (const candidate of rough) {
      if (turns.size === count) break;
      if (turns.has(candidate.f)) continue;
      const turn = this.confirmed(candidate, sought);
      if (turn) turns.set(candidate.f, turn);
    }
    return { given, turns: [...turns.values()].sort(bySize) };
  }

  // Whether label j is given if feature f of sample x has that value.
  answer(f, value, x, j) {
    const moved = x.slice();
    this.features.set(f, value, moved);
    if (this.system.single) {
      return this.system.given(this.system.evaluate(moved).scores)[j];
    }
    return this.system.evaluate(moved, j).scores[j] >= this.system.thresholds[j];
  }

  // Values of feature f that may turn the answer: its other names, or the nearest value
  // down and up its slider.
  candidates(f, sought) {
    const now = this.features.value(f, sought.x);
    if (!this.features.choices[f]) return this.alongSlider(f, now, sought);
    const others = this.features.choices[f].values.filter((value) => value !== now);
    return others.map((value) => {
      return { f, value, from: now, change: this.change(f, now, value) };
    });
  }

  // A candidate as a value that is easy to say, tried on the whole model; null where it
  // does not turn the answer after all.
  confirmed(candidate, { x, j, given }) {
    const { f, from } = candidate;
    const now = this.features.value(f, x);
    const turned = (value) => this.answer(f, value, x, j) !== given;
    const value = this.easyValue(candidate, turned);
    if (value === null || value === now) return null;
    const change = this.change(f, from, value);
    const words = this.words(candidate, value, now);
    return { f, value, change, was: this.features.brief(f, now), words };
  }

  // The value of a candidate if it is a name, or a number near it with few digits; null
  // where it does not turn the answer.
  easyValue({ f, value, isUp }, turned) {
    if (this.features.choice(f, value) === null) {
      return this.tidy(f, value, isUp, turned);
    }
    return turned(value) ? value : null;
  }

  // "age were 61 or more".
  words({ f, value: rough, isUp, isLasting }, value, now) {
    const direction = isUp ? " or more" : " or less";
    const amount = `${exactly(value)}${isLasting ? direction : ""}`;
    const to = this.features.choice(f, rough) ?? amount;
    const verb = Number.isNaN(now) ? "were measured and" : "were";
    return `${this.features.names[f]} ${verb} ${to}`;
  }

  // How large a change of feature f is, as a share of the data that lies between.
  change(f, from, to) {
    const hasNoOrder = this.features.choices[f]?.nominal;
    if (hasNoOrder || Number.isNaN(from)) return UNORDERED_CHANGE;
    return Math.abs(this.rank(f, from) - this.rank(f, to));
  }

  // Where a value stands in the data, or else along the slider (0..1).
  rank(f, value) {
    const position = this.features.positionOf(f, value) / SLIDER_STEPS;
    return this.features.percentile(f, value) ?? position;
  }

  // Down and up from where the slider is (in the middle, if nothing was measured): the
  // first place where the answer turns.
  alongSlider(f, now, sought) {
    const { features } = this;
    const middle = features.valueAt(f, SLIDER_STEPS / 2);
    const from = Number.isNaN(now) ? middle : now;
    const start = features.positionOf(f, from);
    const { isTurned, nPlaces } = this.scan(f, now, sought);
    const turnsAt = (place) => isTurned(features.valueAt(f, place));
    const places = range(nPlaces + 1).map((i) => {
      const place = (i * SLIDER_STEPS) / nPlaces;
      return { place, turned: turnsAt(place) };
    });
    const down = places.filter(({ place }) => place <= start).reverse();
    const up = places.filter(({ place }) => place >= start);
    return [down, up].flatMap((way) => {
      const first = way.findIndex(({ turned }) => turned);
      if (first < 0) return [];
      const before = first ? way[first - 1].place : start;
      const place = nearestPlace(before, way[first].place, turnsAt);
      const value = features.valueAt(f, place);
      const change = this.change(f, from, value);
      const isLasting = way.slice(first).every(({ turned }) => turned);
      return [{ f, value, from, change, isLasting, isUp: way === up }];
    });
  }

  // Whether a value turns the answer, and at how many places to ask: all of them where
  // what this feature alone adds tells it, and fewer where that takes long.
  scan(f, now, sought) {
    const { system } = this;
    const isLarge = system.K * system.D >= LARGE_SYSTEM;
    const quick = this.quick(f, now, sought);
    const slow = (value) => this.answer(f, value, sought.x, sought.j) !== sought.given;
    const nPlaces = quick && !isLarge ? SCANNED_PLACES : SCANNED_PLACES / 4;
    return { isTurned: quick ?? slow, nPlaces };
  }

  // Whether the answer turns, from what this feature alone adds; null where that does
  // not tell.
  quick(f, value, { j, now, given }) {
    const { features, system } = this;
    if (features.isAsked(f) || Number.isNaN(value)) return null;
    if (system.single || system.scaleKind === "unit") return null;
    const column = features.at[f];
    const along = system.along(j, column, now);
    const rest = now.scores[j] - along(now.z[column]);
    return (other) => {
      const score = rest + along(system.place(column, other, 1));
      return score >= system.thresholds[j] !== given;
    };
  }

  // The number with fewest digits, not before the value and hardly beyond it, that
  // turns the answer as well; null where none does.
  tidy(f, value, isUp, turned) {
    const [low, high] = this.features.ends(f);
    const rounded = isUp ? Math.ceil : Math.floor;
    const magnitude = Math.floor(Math.log10(Math.abs(value) || 1));
    for (let digits = 2; digits <= MAX_DIGITS; digits++) {
      const unit = 10 ** (magnitude + 1 - digits);
      const round = Number((rounded(value / unit) * unit).toPrecision(12));
      if (round < low || round > high) continue;
      if (this.features.isWhole(f) && !Number.isInteger(round)) continue;
      if (this.change(f, value, round) <= MAX_OVERSHOOT && turned(round)) return round;
    }
    return turned(value) ? value : null;
  }
}

// Smaller changes first.
function bySize(a, b) {
  return a.change - b.change;
}

// Between two places of a slider of which the second turns the answer, the first that
// does.
function nearestPlace(from, to, turnsAt) {
  let still = from;
  let turned = to;
  while (Math.abs(turned - still) > 1) {
    const middle = Math.round((still + turned) / 2);
    if (turnsAt(middle)) turned = middle;
    else still = middle;
  }
  return turned;
}
