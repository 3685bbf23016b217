// The rules in words, and how far each applies to the sample.

const FIRST_CARDS = 12;
const MAX_OTHER_LABELS = 3; // in a card, next to the chosen one
const MAX_SLOPES = 3; // features that raise or lower a label within a rule
const MAX_TERMS = 8; // of the line of a rule of the paper

// The general rule of the chosen label in words, and rules and exceptions as cards: how
// much they apply now, and what they shift.
class RuleCards {
  constructor(data, features, system, norm, onlabel, onfeature) {
    Object.assign(this, { data, features, system, norm, onlabel, onfeature });
    this.shifts = system.centreShifts();
    this.had = data.had && readColumn(data.had);
    this.general = system.P ? generalCard() : null;
    this.given = data.given.map((rule, r) => this.givenCard(rule, r));
    this.cards = new Map(); // of exceptions that have been looked at
    this.count = FIRST_CARDS;
    this.order = []; // exceptions that are shown
    this.label = 0;
  }

  // A rule that the user gave: it holds or does not.
  givenCard(rule, r) {
    const firing = h("span", { class: "firing" });
    const then = h("ul", { class: "then" });
    const conditions = rule.words.map((words) => h("li", {}, this.condition(words)));
    const node = h("article", { class: "rule", id: `x-given-${r}` }, [
      cardHead(`Your rule ${r + 1}`, rule.size, firing),
      cardWord("If"),
      h("ul", { class: "if" }, conditions),
      cardWord("Then"),
      then,
    ]);
    return { node, firing, then };
  }

  // The card of exception k, made when it is first asked for.
  card(k) {
    if (!this.cards.has(k)) this.cards.set(k, this.exceptionCard(k));
    return this.cards.get(k);
  }

  // An exception, with a strip next to each of its conditions on numbers.
  exceptionCard(k) {
    const rule = this.data.rules[k];
    const firing = h("span", { class: "firing" });
    const fill = h("span", { class: "fill" });
    const then = h("ul", { class: "then" });
    const strips = rule.words.map(([f]) => this.strip(k, f));
    const conditions = rule.words.map((words, i) => {
      return h("li", {}, this.condition(words), strips[i]?.node);
    });
    const props = {
      class: "rule",
      id: `x-rule-${k}`,
      "data-rule": k,
      tabindex: -1,
    };
    const node = h("article", props, [
      cardHead(`${this.data.noun} ${k + 1}`, rule.size, firing),
      h("div", { class: "firing-bar", "aria-hidden": "true" }, fill),
      cardWord("If"),
      h("ul", { class: "if" }, conditions),
      h("p", { class: "muted more", text: rule.always ? "always" : rule.more }),
      cardWord("Then"),
      then,
    ]);
    return { node, firing, fill, strips, then };
  }

  // A condition, or what is said about a feature, that leads to the feature.
  condition([f, words]) {
    return textLink(() => this.onfeature(f), words);
  }

  // The strip of exception k on feature f, null where f has names instead of numbers.
  strip(k, f) {
    if (this.data.choices[f]) return null;
    return conditionStrip(k, f, this.features, this.system, this.norm);
  }

  // Show how far rules apply to sample x.
  show(x, m) {
    const most = Math.max(...m, 1e-12);
    this.given.forEach((card, r) => {
      const holds = x[this.features.givenAt(r)];
      card.firing.textContent = holds ? "holds" : "does not hold";
    });
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
    for (const [k, { node }] of this.cards) {
      node.ariaCurrent = k === asked ? "true" : null;
    }
  }

  // Put the cards of the strongest exceptions, and of one that was asked for, in their
  // places.
  arrange(x, m, asked = -1) {
    const byStrength = strongest(m, m.length);
    this.order = byStrength.filter((k, i) => i < this.count || k === asked);
    $("rules").replaceChildren(
      ...this.given.map(({ node }) => node),
      ...(this.general ? [this.general.node] : []),
      ...this.order.map((k) => this.card(k).node),
    );
    $("more-rules").hidden = this.order.length === m.length;
    this.select(this.label);
    this.show(x, m);
    this.mark(asked);
  }

  // Show what rules say about label j, and about others that they shift most.
  select(j) {
    this.label = j;
    for (const k of this.order) {
      const labels = labelsToShow(this.shifts[k], j);
      const rows = labels.map((label) => this.exceptionRow(k, label, label === j));
      this.card(k).then.replaceChildren(...rows);
    }
    this.given.forEach(({ then }, r) => then.replaceChildren(...this.givenRows(r, j)));
    if (this.general) this.showGeneral(j);
  }

  // The general rule of label j; a short model may have nothing to say about it.
  showGeneral(j) {
    const { data, features, system } = this;
    const isEdited = data.general === null;
    const { words, more } = isEdited
      ? generalWords(features, system, data.edits.subjects, j)
      : data.general[j];
    const { title, lines, rest } = this.general;
    title.textContent = `${data.labels[j]} in general${isEdited ? ", edited" : ""}`;
    lines.replaceChildren(...words.map((part) => h("li", {}, this.condition(part))));
    const nothing = words.length ? "" : "The model says nothing about it.";
    rest.textContent = more || nothing;
  }

  // What given rule r adds where it holds.
  givenRows(r, j) {
    const { had } = this.data.given[r];
    const shifts = Float64Array.from(this.data.labels, (_, label) => {
      return this.features.givenShift(r, label);
    });
    return labelsToShow(shifts, j).map((label) => {
      const observed = had && `${had[0][label]} of ${had[1][label]} had it`;
      return this.moveRow(label, shifts[label], label === j, observed);
    });
  }

  // What exception k shifts; of the chosen label also what moves it within the rule.
  exceptionRow(k, j, isChosen) {
    const observed = this.had && this.observed(k, j);
    const slopes = isChosen && this.system.rows > 1 ? this.slopes(k, j) : null;
    return this.moveRow(j, this.shifts[k][j], isChosen, observed, slopes);
  }

  // By how much a rule moves label j, with what was observed.
  moveRow(j, shift, isChosen, observed, more = null) {
    const isUp = shift >= 0;
    const direction = isUp ? "up" : "down";
    return h("li", { class: isChosen ? "chosen" : "" }, [
      h("span", {
        class: `move ${direction}`,
        text: isUp ? "▲" : "▼",
        title: direction,
      }),
      textLink(() => this.onlabel(j), this.data.labels[j]),
      h("span", { class: "amount", text: signed(shift) }),
      observed && h("p", { class: "terms" }, h("span", { text: observed })),
      more,
    ]);
  }

  // How many members of exception k have label j, and how many of all samples.
  observed(k, j) {
    const [had, seen] = this.membersOf(k, j);
    const [allHad, allSeen] = this.membersOf(this.system.K, j);
    const own = `${counted(had)} of ${counted(seen)} had it`;
    const here = seen === 0 ? "observed in none of them" : own;
    return `${here}, ${counted(allHad)} of ${counted(allSeen)} overall`;
  }

  // How many members of exception k have label j, and in how many it was observed; the
  // row after the last exception is that of all samples.
  membersOf(k, j) {
    const { K, L } = this.system;
    const observed = K + 1 + k; // a second table follows the first
    return [this.had[k * L + j], this.had[observed * L + j]];
  }

  // The line f = p0 + p1·x1 + … of a rule of the paper about label j, in the units of
  // the data.
  formula(k, j) {
    const { system, data } = this;
    const slope = unpackFloats(data.lines.slope);
    const constant = unpackFloats(data.lines.constant);
    let start = system.at(k, 0, j);
    const sizes = Float64Array.from(range(system.D), (d) => {
      start += system.at(k, d + 1, j) * constant[d];
      return system.at(k, d + 1, j);
    });
    const terms = largest(sizes, MAX_TERMS).sort((a, b) => a - b);
    const words = terms.filter((d) => sizes[d] !== 0).map((d) => {
      const sign = sizes[d] < 0 ? "−" : "+";
      return `${sign} ${number(Math.abs(sizes[d] * slope[d]))}·${data.features[d]}`;
    });
    const more = sizes.filter((size) => size !== 0).length - words.length;
    if (more) words.push(`+ ${times(more, "smaller term")}`);
    const begin = `${start < 0 ? "−" : ""}${number(Math.abs(start))}`;
    const text = `f = ${begin} ${words.join(" ")}`;
    return h("p", { class: "terms" }, h("span", { text }));
  }

  // What moves the chosen label within a rule that has slopes.
  slopes(k, j) {
    const { system, data } = this;
    if (data.lines) return this.formula(k, j);
    const names = data.parts ?? data.features;
    const effects = Float64Array.from(range(system.D), (d) => {
      return system.at(k, d + 1, j) * spreadOf(system.usualPlaces(d));
    });
    const order = largest(effects, system.D);
    const side = (verb, keep) => {
      const moving = order.filter((d) => keep(effects[d])).slice(0, MAX_SLOPES);
      if (!moving.length) return null;
      const words = listed(moving.map((d) => names[d]), MAX_SLOPES);
      return h("span", { text: `${verb} with ${words}` });
    };
    return h("p", { class: "terms" }, [
      side("rises", (effect) => effect > 0),
      side("falls", (effect) => effect < 0),
    ]);
  }
}

// The chosen label, then those that a rule shifts most.
function labelsToShow(shifts, chosen) {
  const others = largest(shifts, MAX_OTHER_LABELS + 1).filter((j) => j !== chosen);
  return [chosen, ...others.slice(0, MAX_OTHER_LABELS)];
}

// The card of the general rule, still without its words.
function generalCard() {
  const title = h("h3");
  const lines = h("ul", { class: "general" });
  const rest = h("p", { class: "muted more" });
  const whom = h("span", { class: "muted", text: "holds for everybody" });
  const head = h("header", {}, h("div", {}, title, whom));
  const node = h("article", { class: "rule", id: "x-general" }, head, lines, rest);
  return { title, lines, rest, node };
}

// The head of a card: its title, whom it covers, and how far it applies.
function cardHead(title, size, firing) {
  const words = [h("h3", { text: title }), h("span", { class: "muted", text: size })];
  return h("header", {}, h("div", {}, words), firing);
}

// "If" or "Then".
function cardWord(text) {
  return h("p", { class: "word", text });
}
