// What the model says about one sample: labels, exceptions that apply, reasons.

const BAR_SCORES = { low: -0.25, high: 1.25 }; // of a model without probabilities
const MAX_FIRING_COLUMNS = 16;
const MAX_REASONS = { general: 7, pairs: 4, exceptions: 5, within: 5 };
const TRUTH_MARKS = { "◆": "true in the data", "?": "not observed", "": "" };

// How far along its bar (0..1) a score is, of a model without probabilities.
function alongBar(score) {
  return clamped((score - BAR_SCORES.low) / (BAR_SCORES.high - BAR_SCORES.low), 0, 1);
}

// The threshold of label j: a probability, or a score of a model without probabilities.
function thresholdWords(system, j) {
  const threshold = system.thresholds[j];
  if (!system.hasLogOdds) return number(threshold);
  return `${number(100 * probability(threshold))} %`;
}

// All labels as bars from 0 to 100 % with a tick at the threshold. A model without
// probabilities has scores instead.
class LabelList {
  constructor(data, system, onselect) {
    this.system = system;
    this.names = data.labels;
    this.rows = data.labels.map((name, j) => this.row(name, j, onselect));
    this.order = [...data.labels.keys()];
    $("labels").replaceChildren(...this.rows.map((row) => row.node));
  }

  // The row of label j.
  row(name, j, onselect) {
    const { system } = this;
    const threshold = system.thresholds[j];
    const title = `threshold ${thresholdWords(system, j)}`;
    const fill = h("span", { class: "fill" });
    const tick = h("span", { class: "threshold", title });
    const figure = h("span", { class: system.hasLogOdds ? "chance" : "score" });
    const truth = h("span", { class: "truth" });
    const words = h("span", { class: "label-name", text: name, title: name });
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, fill, tick);
    const props = { class: "label", role: "option", id: `x-label-${j}`, tabindex: -1 };
    const node = h("li", props, words, truth, bar, figure);
    const at = system.hasLogOdds ? probability(threshold) : alongBar(threshold);
    tick.style.left = `${100 * at}%`;
    tick.hidden = system.hasLogOdds && system.single; // the most likely class is given
    node.addEventListener("click", () => onselect(j));
    return { node, fill, figure, truth };
  }

  // Show probabilities, the labels that are given, and the true ones where these are
  // known.
  show(scores, given, truth) {
    const chances = this.system.chances(scores);
    const zero = chances ? 0 : alongBar(0);
    this.rows.forEach((row, j) => {
      const at = chances ? chances[j] : alongBar(scores[j]);
      row.fill.style.left = `${100 * Math.min(zero, at)}%`;
      row.fill.style.width = `${100 * Math.abs(at - zero)}%`;
      row.figure.textContent = chances ? percent(chances[j]) : decimal(scores[j]);
      row.node.classList.toggle("given", given[j]);
    });
    if (truth !== this.truth) this.markTruth(truth);
    this.truth = truth;
  }

  // Mark labels that are true, and those that were not observed.
  markTruth(truth) {
    this.rows.forEach((row, j) => {
      let mark = "";
      if (truth?.true.has(j)) mark = "◆";
      else if (truth?.unknown.has(j)) mark = "?";
      row.truth.textContent = mark;
      row.truth.title = TRUTH_MARKS[mark];
      row.truth.role = mark ? "img" : null; // a picture without a name is no picture
      row.truth.ariaLabel = TRUTH_MARKS[mark] || null;
    });
  }

  // Show which label was chosen.
  select(j) {
    this.rows.forEach(({ node }, i) => {
      node.ariaSelected = i === j;
      node.tabIndex = i === j ? 0 : -1;
    });
  }

  // Put labels in their own order, or those highest above their thresholds first.
  sort(scores, isByScore) {
    const above = (j) => scores[j] - this.system.thresholds[j];
    const order = [...this.names.keys()];
    if (isByScore) order.sort((a, b) => above(b) - above(a));
    if (order.every((j, i) => j === this.order[i])) return;
    this.order = order;
    keepingFocus($("labels"), () => {
      $("labels").append(...order.map((j) => this.rows[j].node));
    });
  }
}

// Move the children of an element about, and give the focus back to the one that had
// it.
function keepingFocus(parent, act) {
  const focused = document.activeElement;
  act();
  if (parent.contains(focused)) focused.focus({ preventScroll: true });
}

// How far each exception applies, as a column: the strongest, where there are many.
class FiringColumns {
  constructor(data, onrule) {
    this.noun = data.noun;
    this.onrule = onrule;
    this.columns = new Map(); // exception -> its column, of those that are shown
  }

  // Choose which columns are there.
  arrange(m) {
    const shown = strongest(m, MAX_FIRING_COLUMNS).sort((a, b) => a - b);
    const column = (k) => this.columns.get(k) ?? this.column(k);
    this.columns = new Map(shown.map((k) => [k, column(k)]));
    $("firing").replaceChildren(...shown.map((k) => this.columns.get(k).button));
    this.show(m);
  }

  // The column of exception k.
  column(k) {
    const fill = h("span", { class: "fill" });
    const shaft = h("span", { class: "shaft" }, fill);
    const name = h("span", { class: "column-name", text: String(k + 1) });
    const button = link("column-rule", () => this.onrule(k), [shaft, name]);
    return { fill, button };
  }

  // Show how far each exception applies now.
  show(m) {
    const most = Math.max(...m);
    for (const [k, { fill, button }] of this.columns) {
      const words = `${this.noun} ${k + 1}, ${percent(m[k])}`;
      fill.style.height = `${100 * m[k]}%`;
      button.classList.toggle("strongest", m[k] === most);
      button.title = words;
      button.ariaLabel = words;
    }
  }
}

// The exceptions that apply most.
function strongest(m, count) {
  return [...m.keys()].sort((a, b) => m[b] - m[a]).slice(0, count);
}

// Log-odds taken apart (or a score): the base rate, what features add in general, what two of them
// add together, what exceptions shift. It all adds up.
class Why {
  constructor(data, features, system, maps, on) {
    // `on` has what a click on a feature, a pair or an exception does
    Object.assign(this, { data, features, system, maps, on });
  }

  // Show why label j has its score.
  show(j, x, now) {
    const { features, system } = this;
    const effects = system.effects(j, now);
    const general = ranked(features.fold(effects), MAX_REASONS.general);
    const pairs = ranked(system.pairEffects(j, now), MAX_REASONS.pairs);
    const shifts = ranked(system.shifts(j, now), MAX_REASONS.exceptions);
    const given = this.givenAmounts(x, effects);
    const within = this.withinAmounts(j, now);
    const ends = endsOf([
      system.base(j),
      ...given.map(({ amount }) => amount),
      ...general.amounts,
      general.rest,
      ...pairs.amounts,
      pairs.rest,
      ...shifts.amounts,
      shifts.rest,
      ...(within ? [within.usual, ...within.amounts, within.rest] : []),
    ]);
    this.showVerdict(j, now);
    $("by-feature").replaceChildren(
      ...this.baseRows(j, ends),
      ...given.map(({ r, amount }) => this.givenRow(r, amount, ends)),
      ...ledger(general, ends, (f) => this.featureWords(f, x)),
    );
    $("by-pair").replaceChildren(...ledger(pairs, ends, (p) => this.pairWords(p, x)));
    $("by-pair-title").hidden = !pairs.shown.length;
    if (within) this.showWithin(within, x, ends);
    $("by-rule").replaceChildren(
      ...ledger(shifts, ends, (k) => this.ruleWords(k, now)),
      totalRow(now.scores[j], system.hasLogOdds),
    );
  }

  // Whether the label is given, and by which figures.
  showVerdict(j, now) {
    const { data, system } = this;
    const given = system.given(now.scores)[j];
    const answer = given ? "Given" : "Not given";
    $("why-label").textContent = data.labels[j];
    $("verdict").textContent = `${answer}: ${this.reason(j, now, given)}.`;
    $("verdict").classList.toggle("given", given);
  }

  // The figures that decide whether label j is given.
  reason(j, now, given) {
    const { system } = this;
    const threshold = `threshold ${thresholdWords(system, j)}`;
    const chances = system.chances(now.scores);
    if (chances && system.single) {
      const rank = given ? "the most likely class" : "another class is more likely";
      return `${percent(chances[j])}, ${rank}`;
    }
    if (chances) return `${percent(chances[j])}, ${threshold}`;
    const reaches = now.scores[j] >= system.thresholds[j] ? "reaches" : "stays below";
    return `${now.scores[j].toFixed(3)} ${reaches} the ${threshold}`;
  }

  // Rules of the user that hold for sample x, and what each adds.
  givenAmounts(x, effects) {
    const columns = this.data.given.map((_, r) => this.features.givenAt(r));
    const held = [...columns.keys()].filter((r) => x[columns[r]]);
    return held.map((r) => ({ r, amount: effects[columns[r]] }));
  }

  // Where the general rule begins.
  baseRows(j, ends) {
    if (!this.system.P) return [];
    const base = { words: "base", note: "of an average sample", kind: "base" };
    return [ledgerRow(base, this.system.base(j), ends)];
  }

  // What rule r of the user adds.
  givenRow(r, amount, ends) {
    const { words } = this.data.given[r];
    const note = words.map(([, text]) => text).join(" and ");
    const onclick = () => this.on.feature(words[0][0]);
    return ledgerRow({ words: `Your rule ${r + 1}`, note, onclick }, amount, ends);
  }

  // What features add within exceptions that have slopes; null where these have none.
  withinAmounts(j, now) {
    if (this.system.rows === 1) return null;
    const { usual, parts } = this.system.within(j, now);
    return { usual, ...ranked(this.features.fold(parts), MAX_REASONS.within) };
  }

  // Show what features add within exceptions that have slopes.
  showWithin(within, x, ends) {
    $("within").replaceChildren(
      ledgerRow({ words: "an average sample", kind: "base" }, within.usual, ends),
      ...ledger(within, ends, (f) => this.featureWords(f, x)),
    );
  }

  // What a row of the account says about feature f.
  featureWords(f, x) {
    const note = this.features.said(f, this.features.value(f, x));
    return { words: this.data.features[f], note, onclick: () => this.on.feature(f) };
  }

  // What a row of the account says about pair p.
  pairWords(p, x) {
    const note = this.maps.values(p, x);
    return { words: this.maps.title(p), note, onclick: () => this.on.pair(p) };
  }

  // What a row of the account says about exception k.
  ruleWords(k, now) {
    const words = `${this.data.noun} ${k + 1}`;
    const note = `applies by ${percent(now.m[k])}`;
    return { words, note, onclick: () => this.on.rule(k) };
  }
}

// The smallest and the largest amount that bars must have room for, 0 between them.
function endsOf(amounts) {
  return { low: Math.min(0, ...amounts), high: Math.max(1e-9, ...amounts) };
}

// The last row of an account: log-odds, or the score of a model without probabilities.
function totalRow(score, hasLogOdds) {
  return h("li", { class: "ledger-row total" }, [
    h("span", { class: "", text: hasLogOdds ? "log-odds" : "score" }),
    h("span", { class: "", text: "" }),
    h("span", { class: "amount", text: decimal(score) }),
  ]);
}

// The largest of some amounts, how many others there are, and what those come to.
function ranked(amounts, count) {
  const order = largest(amounts, amounts.length);
  const rest = order.slice(count).reduce((sum, i) => sum + amounts[i], 0);
  const others = Math.max(0, order.length - count);
  return { amounts, rest, shown: order.slice(0, count), others };
}

// Rows of an account, the smaller amounts as one; wordsOf(i) is what each says.
function ledger({ amounts, rest, shown, others }, ends, wordsOf) {
  const rows = shown.map((i) => ledgerRow(wordsOf(i), amounts[i], ends));
  if (!others) return rows;
  const more = { words: times(others, "smaller one"), kind: "rest" };
  return [...rows, ledgerRow(more, rest, ends)];
}

// Positions of the largest amounts, up or down, without those that are 0.
function largest(amounts, count) {
  const present = [...amounts.keys()].filter((i) => amounts[i] !== 0);
  present.sort((a, b) => Math.abs(amounts[b]) - Math.abs(amounts[a]));
  return present.slice(0, count);
}
