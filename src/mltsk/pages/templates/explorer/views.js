// What the model says about one sample: labels, exceptions that apply, reasons.

const BAR = { low: -0.25, high: 1.25 }; // scores that a bar has room for

function share(score) {
  return Math.min(1, Math.max(0, (score - BAR.low) / (BAR.high - BAR.low)));
}

// Scores of all labels as bars with a tick at the threshold.
class LabelList {
  constructor(data, system, onselect) {
    this.system = system;
    this.names = data.labels;
    this.rows = data.labels.map((name, j) => this.row(name, j, onselect));
    this.order = data.labels.map((_, j) => j);
    $("labels").replaceChildren(...this.rows.map((row) => row.node));
  }

  row(name, j, onselect) {
    const fill = h("span", { class: "fill" });
    const tick = h("span", { class: "threshold", title: `threshold ${number(this.system.thresholds[j])}` });
    tick.style.left = `${100 * share(this.system.thresholds[j])}%`;
    const score = h("span", { class: "score" });
    const chance = h("span", { class: "chance" });
    const truth = h("span", { class: "truth", role: "img" });
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, fill, tick);
    const words = h("span", { class: "label-name", text: name, title: name });
    const node = h("li", { class: "label", role: "option", id: `x-label-${j}`, tabindex: -1 }, words, truth, bar, score, chance);
    node.addEventListener("click", () => onselect(j));
    return { node, fill, score, chance, truth };
  }

  show(scores, given, truth) {
    const zero = share(0);
    const chances = this.system.chances(scores);
    this.rows.forEach((row, j) => {
      const at = share(scores[j]);
      row.fill.style.left = `${100 * Math.min(zero, at)}%`;
      row.fill.style.width = `${100 * Math.abs(at - zero)}%`;
      row.score.textContent = scores[j].toFixed(3).replace("-", "−");
      row.chance.textContent = chances ? percent(chances[j]) : "";
      row.node.classList.toggle("given", given[j]);
      if (truth !== this.truth) this.markTruth(row.truth, truth?.true.has(j) ? "◆" : truth?.unknown.has(j) ? "?" : "");
    });
    this.truth = truth;
  }

  markTruth(node, mark) {
    node.textContent = mark;
    node.title = node.ariaLabel = { "◆": "true in the data", "?": "not observed" }[mark] ?? "";
  }

  select(j) {
    this.rows.forEach(({ node }, i) => Object.assign(node, { ariaSelected: i === j, tabIndex: i === j ? 0 : -1 }));
  }

  sort(scores, byScore) {
    const above = (j) => scores[j] - this.system.thresholds[j];
    const order = this.names.map((_, j) => j);
    if (byScore) order.sort((a, b) => above(b) - above(a));
    if (order.every((j, i) => j === this.order[i])) return;
    this.order = order;
    const focused = document.activeElement;
    $("labels").append(...order.map((j) => this.rows[j].node));
    if ($("labels").contains(focused)) focused.focus({ preventScroll: true });
  }
}

const MOST_COLUMNS = 16;

// How far each exception applies, as a column: the strongest, where there are many.
class FiringColumns {
  constructor(data, onrule) {
    this.noun = data.noun;
    this.fills = data.rules.map(() => h("span", { class: "fill" }));
    this.buttons = this.fills.map((fill, k) =>
      link("column-rule", () => onrule(k), [h("span", { class: "shaft" }, fill), h("span", { class: "column-name", text: String(k + 1) })]));
  }

  arrange(m) {
    $("firing").replaceChildren(...strongest(m, MOST_COLUMNS).sort((a, b) => a - b).map((k) => this.buttons[k]));
  }

  show(m) {
    const most = Math.max(...m);
    this.fills.forEach((fill, k) => {
      fill.style.height = `${100 * m[k]}%`;
      this.buttons[k].classList.toggle("strongest", m[k] === most);
      this.buttons[k].title = this.buttons[k].ariaLabel = `${this.noun} ${k + 1}, ${percent(m[k])}`;
    });
  }
}

function strongest(m, count) {
  return [...m.keys()].sort((a, b) => m[b] - m[a]).slice(0, count);
}

// A score taken apart: the base rate, what features add in general, what exceptions shift. It all adds up.
class Why {
  constructor(data, features, system, onfeature, onrule) {
    Object.assign(this, { data, features, system, onfeature, onrule });
  }

  show(j, x, now) {
    const { system, data } = this;
    const score = now.scores[j];
    const given = system.given(now.scores)[j];
    const chances = system.chances(now.scores);
    $("why-label").textContent = data.labels[j];
    $("verdict").textContent = `${given ? "Given" : "Not given"}: ${score.toFixed(3)} ${
      score >= system.thresholds[j] ? "reaches" : "stays below"} the threshold ${number(system.thresholds[j])}${
      chances ? `, probability ${percent(chances[j])}` : ""}.`;
    $("verdict").classList.toggle("given", given);
    const effects = system.effects(j, now);
    const [general, shifts] = [ranked(this.features.fold(effects), 7), ranked(system.shifts(j, now), 5)];
    const held = data.given.map((_, r) => r).filter((r) => x[this.features.givenAt(r)]);
    const own = held.map((r) => effects[this.features.givenAt(r)]);
    const amounts = [system.intercept[j], ...own, ...general.amounts, general.rest, ...shifts.amounts, shifts.rest];
    const ends = { low: Math.min(0, ...amounts), high: Math.max(1e-9, ...amounts) }; // what bars must have room for
    const base = system.P ? [ledgerRow("base", "of an average sample", null, system.intercept[j], ends, "base")] : [];
    const said = (d) => [data.features[d], this.features.said(d, this.features.value(d, x)), () => this.onfeature(d)];
    const shared = (k) => [`${data.noun} ${k + 1}`, `applies by ${percent(now.m[k])}`, () => this.onrule(k)];
    const yours = held.map((r, i) => ledgerRow(`Your rule ${r + 1}`, data.given[r].words.map(([, words]) => words).join(" and "),
      () => this.onfeature(data.given[r].words[0][0]), own[i], ends, ""));
    $("by-feature").replaceChildren(...base, ...yours, ...ledger(general, ends, said));
    if (system.rows > 1) {
      const { usual, parts } = system.within(j, now);
      $("within").replaceChildren(ledgerRow("an average sample", "", null, usual, ends, "base"), ...ledger(ranked(this.features.fold(parts), 5), ends, said));
    }
    const total = ["score", "", score.toFixed(3).replace("-", "−")].map((text, i) => h("span", { class: i === 2 ? "amount" : "", text }));
    $("by-rule").replaceChildren(...ledger(shifts, ends, shared), h("li", { class: "ledger-row total" }, total));
  }
}

// The largest of some amounts, how many others there are, and what those come to.
function ranked(amounts, count) {
  const order = largest(amounts, amounts.length);
  const rest = order.slice(count).reduce((sum, i) => sum + amounts[i], 0);
  return { amounts, rest, shown: order.slice(0, count), others: Math.max(0, order.length - count) };
}

function ledger({ amounts, rest, shown, others }, ends, told) {
  const more = others ? [ledgerRow(times(others, "smaller one"), "", null, rest, ends, "rest")] : [];
  return [...shown.map((i) => ledgerRow(...told(i), amounts[i], ends, "")), ...more];
}

function largest(amounts, count) {
  const present = [...amounts.keys()].filter((i) => amounts[i] !== 0);
  return present.sort((a, b) => Math.abs(amounts[b]) - Math.abs(amounts[a])).slice(0, count);
}
