// What would turn an answer: for each feature by itself, the nearest value within the data with which the label comes or
// goes. Changes are measured in percentiles; another value without an order counts as half the data.

const SCAN = 100; // places along a slider that are looked at first, a quarter of them where that takes long
const LARGE = 2_000; // conditions of all exceptions

class Turns {
  constructor(features, system) {
    Object.assign(this, { features, system });
  }

  // The few smallest: { f, value, change, words, was }. Which they are is found by what each feature alone adds; each is
  // then tried on the whole model.
  of(j, x, now, among, count) {
    const given = this.system.given(now.scores)[j];
    const rough = among.flatMap((f) => this.turn(f, { j, x, now, given })).sort((a, b) => a.change - b.change);
    const turns = new Map();
    for (const found of rough) {
      if (turns.size === count) break;
      const told = turns.has(found.f) ? null : this.told(found, (value) => this.answer(found.f, value, x, j) !== given, x);
      if (told) turns.set(found.f, told);
    }
    return { given, turns: [...turns.values()].sort((a, b) => a.change - b.change) };
  }

  answer(f, value, x, j) {
    const moved = x.slice();
    this.features.set(f, value, moved);
    if (this.system.single) return this.system.given(this.system.evaluate(moved).scores)[j];
    return this.system.evaluate(moved, j).scores[j] >= this.system.thresholds[j];
  }

  // Ways in which feature f may turn the answer: another of its names, or the nearest value down and up its slider.
  turn(f, sought) {
    const now = this.features.value(f, sought.x);
    if (!this.features.choices[f]) return this.alongSlider(f, now, sought);
    const others = this.features.choices[f].values.filter((value) => value !== now);
    return others.map((value) => ({ f, value, from: now, change: this.change(f, now, value) }));
  }

  // What was found, as a value that is easy to say; null where it does not turn the answer after all.
  told({ f, value, up, beyond, from }, turned, x) {
    const now = this.features.value(f, x);
    const named = this.features.choice(f, value);
    const said = named === null ? this.tidy(f, value, up, turned) : turned(value) ? value : null;
    if (said === null || said === now) return null;
    const to = named ?? `${exactly(said)}${beyond ? ` or ${up ? "more" : "less"}` : ""}`;
    const was = Number.isNaN(now) ? MISSING : this.features.choice(f, now) ?? number(now);
    const words = `${this.features.names[f]} were ${Number.isNaN(now) ? "measured and " : ""}${to}`;
    return { f, value: said, change: this.change(f, from, said), was, words };
  }

  change(f, from, to) {
    if (this.features.choices[f]?.nominal || Number.isNaN(from)) return 0.5;
    const [a, b] = [from, to].map((value) => this.features.percentile(f, value) ?? this.features.positionOf(f, value) / STEPS);
    return Math.abs(a - b);
  }

  // Down and up from where the slider is (in the middle, if nothing was measured): the first place where the answer turns.
  alongSlider(f, now, sought) {
    const from = Number.isNaN(now) ? this.features.valueAt(f, STEPS / 2) : now;
    const quick = this.quick(f, now, sought);
    const turns = quick ?? ((value) => this.answer(f, value, sought.x, sought.j) !== sought.given);
    const at = (place) => turns(this.features.valueAt(f, place));
    const start = this.features.positionOf(f, from);
    const count = quick && this.system.K * this.system.D < LARGE ? SCAN : SCAN / 4;
    const places = Array.from({ length: count + 1 }, (_, i) => ({ place: (i * STEPS) / count, turned: at((i * STEPS) / count) }));
    const ways = [places.filter(({ place }) => place <= start).reverse(), places.filter(({ place }) => place >= start)];
    return ways.flatMap((way, up) => {
      const first = way.findIndex(({ turned }) => turned);
      if (first < 0) return [];
      const value = this.features.valueAt(f, nearest(first ? way[first - 1].place : start, way[first].place, at));
      return [{ f, value, up, from, change: this.change(f, from, value), beyond: way.slice(first).every(({ turned }) => turned) }];
    });
  }

  // Whether the answer turns, from what this feature alone adds; null where that does not tell.
  quick(f, now, { j, now: at, given }) {
    const { system } = this;
    if (this.features.isAsked(f) || system.single || system.scaleKind === "unit" || Number.isNaN(now)) return null;
    const d = this.features.at[f];
    const along = system.along(j, d, at);
    const rest = at.scores[j] - along(at.z[d]);
    return (value) => rest + along(system.place(d, value, 1)) >= system.thresholds[j] !== given;
  }

  // The number with fewest digits, not before the value and hardly beyond it, that turns the answer as well.
  tidy(f, value, up, turned) {
    const stops = this.features.stops[f];
    for (let digits = 2; digits < 13; digits++) {
      const unit = 10 ** (Math.floor(Math.log10(Math.abs(value) || 1)) + 1 - digits);
      const round = Number(((up ? Math.ceil : Math.floor)(value / unit) * unit).toPrecision(12));
      const within = round >= stops[0] && round <= stops[stops.length - 1];
      const whole = !this.features.whole.has(this.features.at[f]) || Number.isInteger(round);
      if (within && whole && this.change(f, value, round) <= 0.01 && turned(round)) return round;
    }
    return turned(value) ? value : null;
  }
}

// Between two places of a slider of which the second turns the answer, the first that does.
function nearest(here, there, turns) {
  let [a, b] = [here, there];
  while (Math.abs(b - a) > 1) {
    const middle = Math.round((a + b) / 2);
    if (turns(middle)) b = middle;
    else a = middle;
  }
  return b;
}
