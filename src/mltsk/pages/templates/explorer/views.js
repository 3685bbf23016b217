// The parts of the page that show what the model says: labels, reasons, rules, correlations.

const BAR = { low: -0.25, high: 1.25 }; // scores that a bar has room for

function share(score) {
  return Math.min(1, Math.max(0, (score - BAR.low) / (BAR.high - BAR.low)));
}

// Scores of all labels as bars with a tick at the threshold.
class LabelList {
  constructor(list, data, system, onselect) {
    this.list = list;
    this.system = system;
    this.names = data.labels;
    this.rows = data.labels.map((name, j) => this.row(name, j, onselect));
    this.order = data.labels.map((_, j) => j);
    list.append(...this.rows.map((row) => row.node));
  }

  row(name, j, onselect) {
    const fill = h("span", { class: "fill" });
    const tick = h("span", { class: "threshold", title: `threshold ${number(this.system.thresholds[j])}` });
    tick.style.left = `${100 * share(this.system.thresholds[j])}%`;
    const score = h("span", { class: "score" });
    const truth = h("span", { class: "truth" });
    const bar = h("span", { class: "bar", "aria-hidden": "true" }, fill, tick);
    const words = h("span", { class: "label-name", text: name, title: name });
    const node = h("li", { class: "label", role: "option", id: `label-${j}`, tabindex: -1 }, words, truth, bar, score);
    node.addEventListener("click", () => onselect(j));
    return { node, fill, score, truth };
  }

  show(scores, given, truth) {
    const zero = share(0);
    this.rows.forEach((row, j) => {
      const at = share(scores[j]);
      row.fill.style.left = `${100 * Math.min(zero, at)}%`;
      row.fill.style.width = `${100 * Math.abs(at - zero)}%`;
      row.score.textContent = scores[j].toFixed(3).replace("-", "−");
      row.node.classList.toggle("given", given[j]);
      row.truth.textContent = truth && truth.has(j) ? "◆" : "";
      row.truth.title = truth && truth.has(j) ? "true in the data" : "";
    });
  }

  select(j) {
    this.rows.forEach((row, i) => {
      row.node.setAttribute("aria-selected", i === j);
      row.node.tabIndex = i === j ? 0 : -1;
    });
  }

  sort(scores, byScore) {
    const above = (j) => scores[j] - this.system.thresholds[j];
    const order = this.names.map((_, j) => j);
    if (byScore) order.sort((a, b) => above(b) - above(a));
    if (order.every((j, i) => j === this.order[i])) return;
    this.order = order;
    const focused = document.activeElement;
    this.list.append(...order.map((j) => this.rows[j].node));
    if (this.list.contains(focused)) focused.focus({ preventScroll: true });
  }
}

// The share of each rule as a column.
class FiringColumns {
  constructor(node, count, onrule) {
    this.fills = Array.from({ length: count }, () => h("span", { class: "fill" }));
    this.buttons = this.fills.map((fill, k) => {
      const button = h("button", { type: "button", class: "column-rule" }, h("span", { class: "shaft" }, fill),
        h("span", { class: "column-name", text: String(k + 1) }));
      button.addEventListener("click", () => onrule(k));
      return button;
    });
    node.append(...this.buttons);
  }

  show(m) {
    const most = Math.max(...m);
    this.fills.forEach((fill, k) => {
      fill.style.height = `${100 * m[k]}%`;
      this.buttons[k].classList.toggle("strongest", m[k] === most);
      this.buttons[k].title = `Rule ${k + 1}: ${percent(m[k])}`;
      this.buttons[k].setAttribute("aria-label", `Rule ${k + 1}, ${percent(m[k])}`);
    });
  }
}

// A score taken apart, by feature and by rule; both add up to it.
class Why {
  constructor(nodes, features, system, names, onfeature, onrule) {
    Object.assign(this, { nodes, features, system, names, onfeature, onrule });
  }

  show(j, x, now) {
    const { system } = this;
    const rules = system.byRule(j, now.z, now.m);
    const { base, parts } = system.byFeature(j, now.z, now.m);
    const given = system.given(now.scores)[j];
    this.nodes.title.textContent = this.names[j];
    this.nodes.verdict.textContent = `${given ? "Given" : "Not given"}: ${now.scores[j].toFixed(3)} ${
      now.scores[j] >= system.thresholds[j] ? "reaches" : "stays below"} the threshold ${number(system.thresholds[j])}.`;
    this.nodes.verdict.classList.toggle("given", given);
    this.byFeature(base, parts, x, now.scores[j]);
    this.byRule(rules, now);
  }

  byFeature(base, parts, x, score) {
    const order = largest(parts, 7);
    const rest = score - base - order.reduce((sum, d) => sum + parts[d], 0);
    const ends = endsOf([base, rest, ...order.map((d) => parts[d])]);
    const rows = [ledgerRow("base", this.features.quantiles ? "of the average sample" : "of an empty row", base, ends, "base")];
    for (const d of order) {
      rows.push(ledgerRow(this.features.names[d], this.features.said(d, x[d]), parts[d], ends, "", () => this.onfeature(d)));
    }
    const others = parts.reduce((count, part) => count + (part !== 0), 0) - order.length;
    if (others > 0) rows.push(ledgerRow(times(others, "smaller one"), "", rest, ends, "rest"));
    this.nodes.features.replaceChildren(...rows, total(score));
  }

  byRule(parts, now) {
    const order = largest(parts, 5);
    const sum = order.reduce((before, k) => before + parts[k], 0);
    const score = parts.reduce((before, part) => before + part, 0);
    const ends = endsOf([score - sum, ...order.map((k) => parts[k])]);
    const rows = order.map((k) =>
      ledgerRow(`Rule ${k + 1}`, `with a share of ${percent(now.m[k])}`, parts[k], ends, "", () => this.onrule(k)));
    const others = parts.length - order.length;
    if (others > 0) rows.push(ledgerRow(times(others, "other rule"), "", score - sum, ends, "rest"));
    this.nodes.rules.replaceChildren(...rows, total(score));
  }
}

function largest(amounts, count) {
  return [...amounts.keys()]
    .filter((i) => amounts[i] !== 0)
    .sort((a, b) => Math.abs(amounts[b]) - Math.abs(amounts[a]))
    .slice(0, count);
}

function total(score) {
  return h("li", { class: "ledger-row total" }, h("span", { class: "ledger-words", text: "score" }),
    h("span", {}), h("span", { class: "amount", text: score.toFixed(3).replace("-", "−") }));
}

// Rules as cards: their words, how much they fire now, and what they do to labels.
class RuleCards {
  constructor(list, data, features, system, norm, onlabel, onfeature) {
    Object.assign(this, { list, data, features, system, norm, onlabel, onfeature });
    this.levels = unpack(data.levels, Float64Array);
    this.usual = unpack(data.usual, Float64Array);
    this.prototypes = unpack(data.prototypes, Float64Array);
    this.cards = data.rules.map((rule, k) => this.card(rule, k));
    this.visible = new Set(this.cards.keys());
    list.append(...this.cards.map((card) => card.node));
    this.watch();
  }

  // Cards out of sight are not redrawn; they catch up when they come into view.
  watch() {
    if (typeof IntersectionObserver === "undefined") return;
    const seen = (entries) => {
      for (const entry of entries) {
        const k = Number(entry.target.dataset.rule);
        if (entry.isIntersecting) this.visible.add(k);
        else this.visible.delete(k);
      }
      if (this.last) this.show(...this.last);
    };
    const observer = new IntersectionObserver(seen, { rootMargin: "200px" });
    this.cards.forEach((card) => observer.observe(card.node));
  }

  card(rule, k) {
    const firing = h("span", { class: "firing" });
    const fill = h("span", { class: "fill" });
    const strips = rule.conditions.map(([d]) =>
      conditionStrip(k, d, this.features, this.system, this.prototypes[k * this.system.D + d], this.norm));
    const conditions = rule.conditions.map(([d, words], i) => {
      const text = h("button", { class: "link", type: "button", text: words, title: words });
      text.addEventListener("click", () => this.onfeature(d));
      return h("li", {}, text, strips[i].node);
    });
    const then = h("ul", { class: "then" });
    const title = h("h3", { text: `Rule ${k + 1}` });
    const weight = h("span", { class: "muted", text: `governs ${percent(this.system.weights[k])} of the data` });
    const head = h("header", {}, h("div", {}, title, weight), firing);
    const bar = h("div", { class: "firing-bar", "aria-hidden": "true" }, fill);
    const node = h("article", { class: "rule", id: `rule-${k}`, "data-rule": k, tabindex: -1 }, head, bar,
      h("p", { class: "word", text: "If" }), h("ul", { class: "if" }, conditions),
      h("p", { class: "muted more", text: rule.more }), h("p", { class: "word", text: "Then" }), then);
    return { node, firing, fill, strips, then };
  }

  show(x, m) {
    this.last = [x, m];
    const most = Math.max(...m, 1e-12);
    for (const k of this.visible) {
      const card = this.cards[k];
      card.firing.textContent = percent(m[k]);
      card.fill.style.width = `${100 * m[k]}%`;
      card.node.classList.toggle("strongest", m[k] === most);
      for (const strip of card.strips) strip.show(x);
    }
  }

  order(m) {
    const order = [...this.cards.keys()].sort((a, b) => m[b] - m[a]);
    this.cards.forEach((card, k) => { card.node.style.order = String(order.indexOf(k)); });
  }

  // The labels that each rule moves most from usual, the selected one first.
  select(j) {
    this.cards.forEach((card, k) => card.then.replaceChildren(...this.moved(k, j).map((l) => this.thenRow(k, l, l === j))));
  }

  moved(k, selected) {
    const { L } = this.system;
    const by = (j) => Math.abs(this.levels[k * L + j] - this.usual[j]);
    const order = [...Array(L).keys()].sort((a, b) => by(b) - by(a));
    return [selected, ...order.filter((j) => j !== selected).slice(0, 3)];
  }

  thenRow(k, j, chosen) {
    const level = this.levels[k * this.system.L + j];
    const up = level >= this.usual[j];
    const name = h("button", { class: "link", type: "button", text: this.data.labels[j], title: this.data.labels[j] });
    name.addEventListener("click", () => this.onlabel(j));
    const move = h("span", { class: `move ${up ? "up" : "down"}`, text: up ? "▲" : "▼", title: up ? "up" : "down" });
    const words = `${this.usual[j].toFixed(2)} → ${level.toFixed(2)}`.replaceAll("-", "−");
    const verdict = h("span", { class: "muted", text: level >= this.system.thresholds[j] ? "given" : "" });
    return h("li", { class: chosen ? "chosen" : "" }, move, name, h("span", { class: "amount", text: words }), verdict,
      chosen ? this.terms(k, j) : null);
  }

  // What moves the chosen label within the rule.
  terms(k, j) {
    const { system } = this;
    const effect = (d) => system.at(k, d + 1, j) * system.spreads[d];
    const order = [...Array(system.D).keys()].filter((d) => effect(d) !== 0)
      .sort((a, b) => Math.abs(effect(b)) - Math.abs(effect(a)));
    const side = (verb, keep) => {
      const names = order.filter(keep).slice(0, 3).map((d) => this.features.names[d]);
      return names.length ? h("span", { text: `${verb} with ${listed(names, 3)}` }) : null;
    };
    const parts = [side("rises", (d) => effect(d) > 0), side("falls", (d) => effect(d) < 0)];
    return h("p", { class: "terms" }, parts);
  }
}

const MOST_NAMES = 30; // that fit beside the map

// How labels go together: in the data, where these are known, and in the rules.
class LabelMap {
  constructor(nodes, data, onlabel) {
    this.nodes = nodes;
    this.names = data.labels;
    this.tables = Object.fromEntries(
      Object.entries(data.correlation).map(([kind, text]) => [kind, unpack(text, Int8Array)]));
    this.kind = this.tables.labels ? "labels" : "consequents";
    if (this.names.length <= MOST_NAMES) nodes.names.append(...this.names.map((name) => h("span", { text: name, title: name })));
    this.listen(onlabel);
  }

  listen(onlabel) {
    const { canvas, tip } = this.nodes;
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
    drawMap(this.nodes.canvas, this.tables[this.kind], this.names.length, selected, dark);
    const others = this.names.map((_, j) => j).filter((j) => j !== selected);
    const ranked = others.sort((a, b) => this.at(selected, b) - this.at(selected, a));
    const row = (j) => h("li", {}, h("span", { class: "label-name", text: this.names[j] }),
      h("span", { class: "amount", text: signed(this.at(selected, j), 2) }));
    this.nodes.title.textContent = this.names[selected];
    this.nodes.with.replaceChildren(...ranked.filter((j) => this.at(selected, j) > 0.005).slice(0, 5).map(row));
    this.nodes.against.replaceChildren(
      ...ranked.filter((j) => this.at(selected, j) < -0.005).slice(-5).reverse().map(row));
  }
}
