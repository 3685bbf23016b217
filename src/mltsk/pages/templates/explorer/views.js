// The parts of the page that show what the model says: labels, reasons, rules, correlations.

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
    $("labels").append(...this.rows.map((row) => row.node));
  }

  row(name, j, onselect) {
    const fill = h("span", { class: "fill" });
    const tick = h("span", { class: "threshold", title: `threshold ${number(this.system.thresholds[j])}` });
    tick.style.left = `${100 * share(this.system.thresholds[j])}%`;
    const score = h("span", { class: "score" });
    const chance = h("span", { class: "chance" });
    const truth = h("span", { class: "truth" });
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, fill, tick);
    const words = h("span", { class: "label-name", text: name, title: name });
    const node = h("li", { class: "label", role: "option", id: `label-${j}`, tabindex: -1 }, words, truth, bar, score, chance);
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
      row.truth.textContent = truth && truth.has(j) ? "◆" : "";
      row.truth.title = truth && truth.has(j) ? "true in the data" : "";
    });
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
    const [general, shifts] = [ranked(this.features.fold(system.effects(j, now)), 7), ranked(system.shifts(j, now), 5)];
    const amounts = [system.intercept[j], ...general.amounts, general.rest, ...shifts.amounts, shifts.rest];
    const ends = { low: Math.min(0, ...amounts), high: Math.max(1e-9, ...amounts) }; // what bars must have room for
    const base = system.P ? [ledgerRow("base", "of an average sample", null, system.intercept[j], ends, "base")] : [];
    const said = (d) => [data.features[d], this.features.said(d, this.features.value(d, x)), () => this.onfeature(d)];
    const shared = (k) => [`${data.noun} ${k + 1}`, `applies by ${percent(now.m[k])}`, () => this.onrule(k)];
    $("by-feature").replaceChildren(...base, ...ledger(general, ends, said));
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

const MOST_CARDS = 12;

// The general rule of the chosen label, in words, and exceptions as cards: how much they apply now, and what they shift.
class RuleCards {
  constructor(data, features, system, norm, onlabel, onfeature) {
    Object.assign(this, { data, features, system, norm, onlabel, onfeature });
    this.shifts = system.centreShifts();
    this.prototypes = unpack(data.prototypes, Float64Array);
    this.had = data.had && unpack(data.had, Uint32Array);
    this.general = this.generalCard();
    this.cards = new Map(); // those that have been looked at
    Object.assign(this, { count: MOST_CARDS, order: [], label: 0 });
  }

  generalCard() {
    if (!this.system.P) return null;
    const [title, lines, more] = [h("h3"), h("ul", { class: "general" }), h("p", { class: "muted more" })];
    const head = h("header", {}, h("div", {}, title, h("span", { class: "muted", text: "holds for everybody" })));
    return { title, lines, more, node: h("article", { class: "rule", id: "general" }, head, lines, more) };
  }

  card(k) {
    if (this.cards.has(k)) return this.cards.get(k);
    const rule = this.data.rules[k];
    const firing = h("span", { class: "firing" });
    const fill = h("span", { class: "fill" });
    const strips = rule.words.map(([d]) => (this.data.choices[d] ? null
      : conditionStrip(k, d, this.features, this.system, this.prototypes, this.norm)));
    const conditions = rule.words.map(([d, words], i) => h("li", {}, link("", () => this.onfeature(d), [], words), strips[i]?.node));
    const then = h("ul", { class: "then" });
    const title = h("h3", { text: `${this.data.noun} ${k + 1}` });
    const weight = h("span", { class: "muted", text: rule.size });
    const head = h("header", {}, h("div", {}, title, weight), firing);
    const bar = h("div", { class: "firing-bar", "aria-hidden": "true" }, fill);
    const node = h("article", { class: "rule", id: `rule-${k}`, "data-rule": k, tabindex: -1 }, head, bar,
      h("p", { class: "word", text: "If" }), h("ul", { class: "if" }, conditions),
      h("p", { class: "muted more", text: rule.always ? "always" : rule.more }), h("p", { class: "word", text: "Then" }), then);
    this.cards.set(k, { node, firing, fill, strips, then });
    return this.cards.get(k);
  }

  show(x, m) {
    const most = Math.max(...m, 1e-12);
    for (const k of this.order) {
      const card = this.card(k);
      card.firing.textContent = percent(m[k]);
      card.fill.style.width = `${100 * m[k]}%`;
      card.node.classList.toggle("strongest", m[k] === most);
      for (const strip of card.strips) strip?.show(x);
    }
  }

  // Put the cards of the strongest exceptions, and of one that was asked for, in their places.
  arrange(x, m, asked = -1) {
    this.order = strongest(m, m.length).filter((k, i) => i < this.count || k === asked);
    const nodes = this.order.map((k) => this.card(k).node);
    $("rules").replaceChildren(...this.general ? [this.general.node] : [], ...nodes);
    $("more-rules").hidden = this.order.length === m.length;
    this.select(this.label);
    this.show(x, m);
  }

  // The labels that each exception shifts most, the selected one first.
  select(j) {
    this.label = j;
    for (const k of this.order) {
      const others = largest(this.shifts[k], 4).filter((l) => l !== j).slice(0, 3);
      this.card(k).then.replaceChildren(...[j, ...others].map((l) => this.thenRow(k, l, l === j)));
    }
    if (!this.general) return;
    const { words, more } = this.data.general[j];
    this.general.title.textContent = `In general, ${this.data.labels[j]} is`;
    this.general.lines.replaceChildren(...words.map(([d, text]) => h("li", {}, link("", () => this.onfeature(d), [], text))));
    this.general.more.textContent = more;
  }

  thenRow(k, j, chosen) {
    const shift = this.shifts[k][j];
    const up = shift >= 0;
    const name = link("", () => this.onlabel(j), [], this.data.labels[j]);
    const move = h("span", { class: `move ${up ? "up" : "down"}`, text: up ? "▲" : "▼", title: up ? "up" : "down" });
    const amount = h("span", { class: "amount", text: signed(shift) });
    const had = this.had && h("p", { class: "terms" }, h("span", { text: this.observed(k, j) }));
    return h("li", { class: chosen ? "chosen" : "" }, move, name, amount, had,
      chosen && this.system.rows > 1 ? this.slopes(k, j) : null);
  }

  // How many members of an exception have a label, and how many of all samples: those come last.
  observed(k, j) {
    const { K, L } = this.system;
    const [here, all] = [k, K].map((row) => [0, K + 1].map((table) => this.had[(table + row) * L + j].toLocaleString("en-US")));
    return `${here[1] === "0" ? "observed in none of them" : `${here[0]} of ${here[1]} had it`}, ${all[0]} of ${all[1]} overall`;
  }

  // What moves the chosen label within a rule that has slopes.
  slopes(k, j) {
    const { system } = this;
    const effect = (d) => system.at(k, d + 1, j) * spreadOf(system.usualPlaces(d));
    const order = largest(Float64Array.from({ length: system.D }, (_, d) => effect(d)), system.D);
    const side = (verb, keep) => {
      const names = order.filter(keep).slice(0, 3).map((d) => (this.data.parts ?? this.data.features)[d]);
      return names.length ? h("span", { text: `${verb} with ${listed(names, 3)}` }) : null;
    };
    return h("p", { class: "terms" }, [side("rises", (d) => effect(d) > 0), side("falls", (d) => effect(d) < 0)]);
  }
}

const MOST_NAMES = 30; // that fit beside the map

// How labels go together: in the data, where these are known, and in the rules.
class LabelMap {
  constructor(data, onlabel) {
    this.names = data.labels;
    this.tables = Object.fromEntries(
      Object.entries(data.correlation).map(([kind, text]) => [kind, unpack(text, Int8Array)]));
    this.kind = this.tables.labels ? "labels" : "consequents";
    if (this.names.length <= MOST_NAMES) $("map-names").append(...this.names.map((name) => h("span", { text: name, title: name })));
    this.listen(onlabel);
  }

  listen(onlabel) {
    const [canvas, tip] = [$("map"), $("map-tip")];
    const cell = (event) => {
      const box = canvas.getBoundingClientRect();
      const at = (value, size) => Math.min(this.names.length - 1, Math.max(0, Math.floor((value / size) * this.names.length)));
      return [at(event.clientY - box.top, box.height), at(event.clientX - box.left, box.width)];
    };
    canvas.addEventListener("mousemove", (event) => {
      const [i, j] = cell(event);
      tip.textContent = `${this.names[i]} and ${this.names[j]}: ${signed(this.at(i, j), 2)}`;
    });
    canvas.addEventListener("mouseleave", () => { tip.textContent = ""; });
    canvas.addEventListener("click", (event) => onlabel(cell(event)[0]));
  }

  at(i, j) {
    return this.tables[this.kind][i * this.names.length + j] / 127;
  }

  show(selected, dark) {
    drawMap($("map"), this.tables[this.kind], this.names.length, selected, dark);
    const others = this.names.map((_, j) => j).filter((j) => j !== selected);
    const ranked = others.sort((a, b) => this.at(selected, b) - this.at(selected, a));
    const row = (j) => h("li", {}, h("span", { class: "label-name", text: this.names[j] }),
      h("span", { class: "amount", text: signed(this.at(selected, j), 2) }));
    $("map-label").textContent = this.names[selected];
    $("map-with").replaceChildren(...ranked.filter((j) => this.at(selected, j) > 0.005).slice(0, 5).map(row));
    $("map-against").replaceChildren(
      ...ranked.filter((j) => this.at(selected, j) < -0.005).slice(-5).reverse().map(row));
  }
}
