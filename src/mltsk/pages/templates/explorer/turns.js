// What would turn an answer: for each feature by itself, the nearest value within the data with which the label comes or
// goes. Changes are measured in percentiles; another value without an order counts as half the data.

const SCAN = 100; // places along a slider that are looked at first

class Turns {
  constructor(features, system) {
    Object.assign(this, { features, system });
  }

  // The few smallest: { f, value, change, words }.
  of(j, x, now, among, count) {
    const given = this.system.given(now.scores)[j];
    const found = among.map((f) => this.turn(f, { j, x, now, given, turned: (value) => this.answer(f, value, x, j) !== given }));
    return { given, turns: found.filter(Boolean).sort((a, b) => a.change - b.change).slice(0, count) };
  }

  answer(f, value, x, j) {
    const moved = x.slice();
    this.features.set(f, value, moved);
    return this.system.given(this.system.evaluate(moved).scores)[j];
  }

  turn(f, sought) {
    const now = this.features.value(f, sought.x);
    const found = this.features.choices[f] ? this.amongNames(f, now, sought.turned) : this.alongSlider(f, now, sought);
    return found && { f, ...found, words: `${this.features.names[f]} were ${Number.isNaN(now) ? "measured and " : ""}${found.to}`,
      was: Number.isNaN(now) ? MISSING : this.features.choice(f, now) ?? exactly(now) };
  }

  amongNames(f, now, turned) {
    const { values, names, nominal } = this.features.choices[f];
    const change = (value) => (nominal || Number.isNaN(now) ? 0.5 : this.change(f, now, value));
    const found = values.map((value, i) => ({ value, change: change(value), to: names[i] }));
    return found.sort((a, b) => a.change - b.change).find(({ value }) => value !== now && turned(value));
  }

  change(f, from, to) {
    const [a, b] = [from, to].map((value) => this.features.percentile(f, value) ?? this.features.positionOf(f, value) / STEPS);
    return Math.abs(a - b);
  }

  // Up and down from where the slider is (in the middle, if nothing was measured): the first place where the answer turns.
  alongSlider(f, now, sought) {
    const from = Number.isNaN(now) ? this.features.valueAt(f, STEPS / 2) : now;
    const quick = this.quick(f, now, sought);
    const step = STEPS / (quick ? SCAN : SCAN / 4);
    const turns = quick ?? sought.turned;
    const start = this.features.positionOf(f, from);
    const places = Array.from({ length: STEPS / step + 1 }, (_, i) => i * step);
    const either = [places.filter((at) => at <= start).reverse(), places.filter((at) => at >= start)].map((way, up) => {
      const first = way.findIndex((at) => turns(this.features.valueAt(f, at)));
      if (first < 0) return null;
      const beyond = way.slice(first).every((at) => turns(this.features.valueAt(f, at)));
      return this.nearest(f, from, first ? way[first - 1] : start, way[first], { beyond, up, turned: sought.turned });
    });
    return either.filter(Boolean).sort((a, b) => a.change - b.change)[0];
  }

  // Whether the answer turns, from what this feature alone adds; null where that does not tell.
  quick(f, now, { j, now: at, given }) {
    const { system } = this;
    if (system.single || system.scaleKind === "unit" || Number.isNaN(now)) return null;
    const d = this.features.at[f];
    const along = system.along(j, d, at);
    const rest = at.scores[j] - along(at.z[d]);
    return (value) => rest + along(system.place(d, value, 1)) >= system.thresholds[j] !== given;
  }

  // Between two places of which the second turns the answer, the first that does, as a number that is easy to say.
  nearest(f, from, here, there, { beyond, up, turned }) {
    let [a, b] = [here, there];
    while (Math.abs(b - a) > 1) {
      const middle = Math.round((a + b) / 2);
      if (turned(this.features.valueAt(f, middle))) b = middle;
      else a = middle;
    }
    const value = this.tidy(f, this.features.valueAt(f, b), up, turned);
    if (value === null || value === from) return null;
    return { value, change: this.change(f, from, value), to: `${exactly(value)}${beyond ? ` or ${up ? "more" : "less"}` : ""}` };
  }

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
