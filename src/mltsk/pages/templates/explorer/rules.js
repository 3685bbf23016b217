// The rules in words, and how far each applies to the sample.

const MOST_CARDS = 12;

// The general rule of the chosen label, in words, and exceptions as cards: how much they apply now, and what they shift.
class RuleCards {
  constructor(data, features, system, norm, onlabel, onfeature) {
    Object.assign(this, { data, features, system, norm, onlabel, onfeature });
    this.shifts = system.centreShifts();
    this.prototypes = unpack(data.prototypes, Float64Array);
    this.had = data.had && unpack(data.had, Uint32Array);
    this.general = this.generalCard();
    this.given = data.given.map((rule, r) => this.givenCard(rule, r));
    this.cards = new Map(); // those that have been looked at
    Object.assign(this, { count: MOST_CARDS, order: [], label: 0 });
  }

  generalCard() {
    if (!this.system.P) return null;
    const [title, lines, more] = [h("h3"), h("ul", { class: "general" }), h("p", { class: "muted more" })];
    const head = h("header", {}, h("div", {}, title, h("span", { class: "muted", text: "holds for everybody" })));
    return { title, lines, more, node: h("article", { class: "rule", id: "x-general" }, head, lines, more) };
  }

  // A rule that the user gave: it holds or does not.
  givenCard(rule, r) {
    const [firing, then] = [h("span", { class: "firing" }), h("ul", { class: "then" })];
    const title = h("h3", { text: `Your rule ${r + 1}` });
    const asks = rule.words.map(([d, words]) => h("li", {}, link("", () => this.onfeature(d), [], words)));
    const node = h("article", { class: "rule", id: `x-given-${r}` },
      h("header", {}, h("div", {}, title, h("span", { class: "muted", text: rule.size })), firing),
      h("p", { class: "word", text: "If" }), h("ul", { class: "if" }, asks), h("p", { class: "word", text: "Then" }), then);
    return { node, firing, then };
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
    const node = h("article", { class: "rule", id: `x-rule-${k}`, "data-rule": k, tabindex: -1 }, head, bar,
      h("p", { class: "word", text: "If" }), h("ul", { class: "if" }, conditions),
      h("p", { class: "muted more", text: rule.always ? "always" : rule.more }), h("p", { class: "word", text: "Then" }), then);
    this.cards.set(k, { node, firing, fill, strips, then });
    return this.cards.get(k);
  }

  show(x, m) {
    this.given.forEach((card, r) => { card.firing.textContent = x[this.features.givenAt(r)] ? "holds" : "does not hold"; });
    const most = Math.max(...m, 1e-12);
    for (const k of this.order) {
      const card = this.card(k);
      card.firing.textContent = percent(m[k]);
      card.fill.style.width = `${100 * m[k]}%`;
      card.node.classList.toggle("strongest", m[k] === most);
      for (const strip of card.strips) strip?.show(x);
    }
  }

  // Mark the exception that was asked for.
  mark(asked) {
    for (const [k, { node }] of this.cards) node.ariaCurrent = k === asked ? "true" : null;
  }

  // Put the cards of the strongest exceptions, and of one that was asked for, in their places.
  arrange(x, m, asked = -1) {
    this.order = strongest(m, m.length).filter((k, i) => i < this.count || k === asked);
    const nodes = this.order.map((k) => this.card(k).node);
    $("rules").replaceChildren(...this.given.map(({ node }) => node), ...this.general ? [this.general.node] : [], ...nodes);
    $("more-rules").hidden = this.order.length === m.length;
    this.select(this.label);
    this.show(x, m);
    this.mark(asked);
  }

  // The labels that each exception shifts most, the selected one first.
  select(j) {
    this.label = j;
    for (const k of this.order) {
      const others = largest(this.shifts[k], 4).filter((l) => l !== j).slice(0, 3);
      this.card(k).then.replaceChildren(...[j, ...others].map((l) => this.thenRow(k, l, l === j)));
    }
    this.given.forEach(({ then }, r) => then.replaceChildren(...this.givenRows(r, j)));
    if (!this.general) return;
    const { words, more } = this.data.general[j];
    this.general.title.textContent = `In general, ${this.data.labels[j]} is`;
    this.general.lines.replaceChildren(...words.map(([d, text]) => h("li", {}, link("", () => this.onfeature(d), [], text))));
    this.general.more.textContent = more;
  }

  // What a given rule adds, where it holds, to the chosen label and those that it shifts most.
  givenRows(r, j) {
    const { had } = this.data.given[r];
    const shifts = Float64Array.from(this.data.labels, (_, l) => this.features.givenShift(r, l));
    const others = largest(shifts, 4).filter((l) => l !== j).slice(0, 3);
    return [j, ...others].map((l) => this.moveRow(l, shifts[l], l === j, had && `${had[0][l]} of ${had[1][l]} had it`));
  }

  thenRow(k, j, chosen) {
    return this.moveRow(j, this.shifts[k][j], chosen, this.had && this.observed(k, j), chosen && this.system.rows > 1 ? this.slopes(k, j) : null);
  }

  moveRow(j, shift, chosen, observed, more = null) {
    const up = shift >= 0;
    const name = link("", () => this.onlabel(j), [], this.data.labels[j]);
    const move = h("span", { class: `move ${up ? "up" : "down"}`, text: up ? "▲" : "▼", title: up ? "up" : "down" });
    const amount = h("span", { class: "amount", text: signed(shift) });
    const had = observed && h("p", { class: "terms" }, h("span", { text: observed }));
    return h("li", { class: chosen ? "chosen" : "" }, move, name, amount, had, more);
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
