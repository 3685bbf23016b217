// One sample, one chosen label, a model of some length, and everything that follows
// from them.

const CONTROLS_SHOWN = 12; // features at first; each click shows twice as many more
const MAX_TURNS = 4;
const MAX_NEIGHBOURS = 5;
const MAX_CHIPS = 6;
const MAX_ANNOUNCED = 8;
const MANY_LABELS = 20; // more are shown with the highest score first
const PAUSE = 200; // milliseconds without a move, after which a large model is searched
const DARK_SCHEME = matchMedia("(prefers-color-scheme: dark)");

class Explorer {
  constructor(data) {
    this.whole = data;
    this.root = $("explorer");
    this.label = 0;
    this.rule = -1; // the exception that was asked for
    this.shown = CONTROLS_SHOWN;
    this.samples = new Samples(data);
    this.x = new Float64Array(this.samples.D);
    this.start = this.x.slice(); // the sample before it was changed
    this.first = data.rows?.typical[0] ?? 0;
    this.norm = () => lengthOf(this.x);
    this.map = new LabelMap(data, (j) => this.choose(j));
    this.sizes = new Sizes(data.sizes, (i) => this.resize(i));
    this.finder = new Finder(this.samples, (i) => this.go(i));
    this.listen();
    this.listenToClicks();
    this.listenToKeys();
    this.edited = {}; // what edits change in the data
    this.editor = new Editor(this, data);
    this.build();
    this.begin();
  }

  // Everything that depends on the length of the model.
  build() {
    const onfeature = (f) => this.reveal(f);
    const onlabel = (j) => this.choose(j);
    const onrule = (k) => this.visit(k);
    const ofSize = this.whole.sizes[this.sizes.at];
    const data = { ...this.whole, ...ofSize, ...this.edited };
    const system = new FuzzySystem(data);
    const features = new Features(data, system);
    Object.assign(this, { data, system, features });
    this.labels = new LabelList(data, system, onlabel);
    this.columns = new FiringColumns(data, onrule);
    this.pairs = new PairMaps(data, features, system, onfeature);
    const on = { feature: onfeature, pair: (p) => this.visitPair(p), rule: onrule };
    this.why = new Why(data, features, system, this.pairs, on);
    this.cards = new RuleCards(data, features, system, this.norm, onlabel, onfeature);
    this.turns = new Turns(features, system);
    this.controls = []; // those that are shown
    this.made = new Map(); // feature -> its control, shown or not
    $("firing-card").hidden = !system.K;
    $("by-rule-title").hidden = !system.K;
    for (const words of ["of-exceptions", "on-exceptions"]) {
      if ($(words)) $(words).hidden = !system.K; // an edited model has none
    }
    $("within-title").hidden = system.rows < 2;
    $("within").hidden = system.rows < 2;
    this.sizes.show(this.sizes.at);
    this.showCounts();
  }

  // How large the model is, where the page has a heading.
  showCounts() {
    if (!$("counts")) return;
    const parts = [
      [this.system.K, this.data.noun.toLowerCase()],
      [this.data.features.length, "feature"],
      [this.system.pairs.length, "pair of features", "pairs of features"],
      [this.system.L, "label"],
    ].filter(([count]) => count);
    const words = parts.map(([count, noun, nouns]) => {
      return count > 1 && nouns ? `${counted(count)} ${nouns}` : times(count, noun);
    });
    $("counts").textContent = words.join(" · ");
  }

  // Begin with the state in the address, or with the first sample and its strongest
  // label.
  begin() {
    const usual = {
      example: -1,
      label: -1,
      values: [],
      size: this.sizes.last,
      rule: -1,
    };
    const state = readState(location.hash, this) ?? usual;
    if (state.size !== this.sizes.at) {
      this.sizes.at = state.size;
      this.build();
    }
    this.quietly(() => this.restore(state));
  }

  // Show a state of the page.
  restore({ example, label, values, rule }) {
    this.load(example < 0 ? this.first : example);
    for (const [f, value] of values) {
      this.features.set(f, value, this.x);
    }
    this.refresh();
    this.choose(label < 0 ? this.system.foremost(this.now.scores) : label);
    this.rule = rule < this.system.K ? rule : -1;
    this.settle();
  }

  // Several steps as one: what takes long is done once, and the address is left to the
  // caller.
  quietly(act) {
    this.quiet = true;
    act();
    this.quiet = false;
    this.editor.show();
    this.consider();
  }

  // Put the state into the address; another sample is a step that the back button takes
  // back.
  save(isStep = false) {
    if (this.quiet) return;
    const address = writeState(this);
    if (address === location.hash) return;
    try {
      if (isStep) history.pushState(null, "", address);
      else history.replaceState(null, "", address);
    } catch {
      // Browsers refuse this in some places, or many in a short time.
    }
  }

  // What the fields of the page and its window do.
  listen() {
    const isLong = this.whole.labels.length > MANY_LABELS;
    $("label-order").value = isLong ? "score" : "given";
    $("label-order").addEventListener("change", () => this.settle());
    $("search").addEventListener("input", () => this.list(CONTROLS_SHOWN));
    $("order").addEventListener("change", () => this.list(CONTROLS_SHOWN));
    $("map-kind").hidden = !this.map.tables.labels;
    $("map-kind").addEventListener("change", (event) => {
      this.map.kind = event.target.value;
      this.drawMap();
    });
    DARK_SCHEME.addEventListener("change", () => this.drawMap());
    addEventListener("beforeprint", () => fillSheet(this));
    addEventListener("popstate", () => {
      const isOurs = location.hash.startsWith(STATE_MARK) || !location.hash;
      if (isOurs) this.begin();
    });
  }

  // What the buttons of the page do.
  listenToClicks() {
    const actions = {
      "more-rules": () => this.showMoreRules(),
      "more-pairs": () => this.showMorePairs(),
      more: () => this.list(this.shown + 2 * CONTROLS_SHOWN),
      previous: () => this.step(-1),
      next: () => this.step(1),
      reset: () => this.reset(),
      print: () => print(),
      theme: () => this.toggleTheme(),
      help: () => $("keys").showModal(),
    };
    for (const [id, act] of Object.entries(actions)) {
      $(id)?.addEventListener("click", act);
    }
  }

  // Keys in the list of labels, and anywhere; in another page, whose keys are its own,
  // anywhere in the explorer.
  listenToKeys() {
    const isOwnPage = document.body.classList.contains("explorer-page");
    const place = isOwnPage ? document : this.root;
    $("labels").addEventListener("keydown", (event) => this.labelKey(event));
    place.addEventListener("keydown", (event) => this.key(event));
  }

  // Arrows move through the labels.
  labelKey(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    this.move(step);
  }

  // Letters are shortcuts, except where somebody types.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
    if (event.key === "Escape" && event.target === $("search")) this.search("");
    if (event.target.closest?.("input, select, textarea")) return;
    const actions = {
      "/": () => $("search").focus(),
      "?": () => $("keys").showModal(),
      n: () => this.step(1),
      p: () => this.step(-1),
      f: () => $("find").focus(),
      r: () => this.reset(),
      j: () => this.move(1),
      k: () => this.move(-1),
      t: () => this.toggleTheme(),
    };
    const act = actions[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // Take sample i with its own values.
  load(i) {
    this.example = i;
    this.samples.fill(i, this.x);
    this.start.set(this.x);
    this.truth = this.samples.truth(i);
    this.finder.show(i);
    this.refresh();
    this.settle();
  }

  // Go to sample i, as a step that can be taken back.
  go(i) {
    this.quietly(() => this.load(i));
    this.save(true);
  }

  // Go to the next or the previous sample.
  step(by) {
    this.go((this.example + by + this.samples.count) % this.samples.count);
  }

  // Give the sample its own values back.
  reset() {
    this.load(this.example);
  }

  // Take the model of length i.
  resize(i) {
    this.sizes.at = i;
    this.rule = -1;
    this.quietly(() => {
      this.build();
      this.refresh();
      this.choose(this.label);
      this.settle();
    });
    this.save();
  }

  // Take the edited model, or that of the page where nothing differs; isDone is false
  // while a point still moves.
  takeEdits(edited, isDone) {
    const act = () => {
      this.build();
      this.refresh();
      this.choose(this.label);
      this.settle();
    };
    this.edited = edited;
    this.rule = -1;
    this.sizes.at = this.sizes.last;
    if ($("size-card")) $("size-card").hidden = Object.keys(edited).length > 0;
    this.quiet = true;
    act();
    this.quiet = false;
    if (isDone) this.consider();
  }

  // Bring the card of edits into view, with the curve of feature f.
  edit(f) {
    this.editor.select(f);
    $("edit-card").scrollIntoView({ block: "start", behavior: "smooth" });
    $("edit-feature").focus({ preventScroll: true });
  }

  // Set feature f; isDone is false while its slider still moves.
  set(f, value, isDone) {
    this.features.set(f, value, this.x);
    this.schedule(isDone);
  }

  // At most one update a frame, however fast a slider moves.
  schedule(isDone) {
    this.settling = this.settling || isDone;
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.refresh();
      if (this.settling) this.settle();
      this.settling = false;
    });
  }

  // Show what the model says about the sample as it is now.
  refresh() {
    this.now = this.system.evaluate(this.x);
    this.given = this.system.given(this.now.scores);
    this.labels.show(this.now.scores, this.given, this.truth);
    this.why.show(this.label, this.x, this.now);
    this.pairs.show(this.x, this.now);
    this.cards.show(this.x, this.now.m);
    this.columns.show(this.now.m);
    this.showControls();
    this.summarise();
  }

  // What would be restless while a slider moves, or takes long, happens when it rests.
  settle() {
    this.labels.sort(this.now.scores, $("label-order").value === "score");
    this.cards.arrange(this.x, this.now.m, this.rule);
    this.columns.arrange(this.now.m);
    this.announce();
    this.consider();
    this.save();
  }

  // What looks at many other samples; of a large model, when nothing has moved for a
  // while.
  consider() {
    if (this.quiet) return;
    clearTimeout(this.pause);
    const act = () => {
      this.showTurns();
      if (this.whole.neighbours) this.showNeighbours();
    };
    const isLarge = this.system.K * this.system.D > LARGE_SYSTEM;
    if (isLarge) this.pause = setTimeout(act, PAUSE);
    else act();
  }

  // Names of the labels that are given.
  givenNames() {
    return this.data.labels.filter((_, j) => this.given[j]);
  }

  // The head of the page: labels that are given, and whether values were changed.
  summarise() {
    const isUnchanged = this.x.every((value, d) => Object.is(value, this.start[d]));
    $("chips").replaceChildren(...this.chips());
    $("changed").hidden = isUnchanged;
    $("reset").hidden = isUnchanged;
    $("strongest").textContent = this.strongest();
  }

  // Labels that are given, those beyond the first few counted.
  chips() {
    const names = this.givenNames();
    const quiet = (text) => h("span", { class: "chip quiet", text });
    if (!names.length) return [quiet("no label")];
    const chips = names.slice(0, MAX_CHIPS).map((name) => {
      return h("span", { class: "chip", text: name, title: name });
    });
    const more = names.length - MAX_CHIPS;
    return more > 0 ? [...chips, quiet(`${more} more`)] : chips;
  }

  // Which exception applies most, in words.
  strongest() {
    const { m } = this.now;
    const best = m.indexOf(Math.max(...m));
    if (best < 0) return "";
    // A row of a model of the paper on which all memberships are 0 to the computer.
    if (!(m[best] > 0)) return `no ${this.data.noun.toLowerCase()} applies`;
    return `${this.data.noun} ${best + 1} is strongest, ${percent(m[best])}`;
  }

  // For those who hear the page: which labels are given, when that changed.
  announce() {
    const names = this.givenNames();
    const given = `Given: ${listed(names, MAX_ANNOUNCED)}`;
    const answer = names.length ? given : "No label is given";
    const words = `${answer}. ${this.strongest()}`;
    if ($("status").textContent !== words) $("status").textContent = words;
  }

  // What would change the answer. A slider changes a row of unit length as a whole, so
  // that only features that are shown are looked at.
  showTurns() {
    const isUnit = this.system.scaleKind === "unit";
    const shown = this.controls.map(({ f }) => f);
    const among = isUnit ? shown : [...this.data.features.keys()];
    const answer = this.turns.of(this.label, this.x, this.now, among, MAX_TURNS);
    const verb = answer.given ? "no longer given" : "given";
    const rows = answer.turns.map(({ f, value, words, was }) => {
      const onclick = () => this.set(f, value, true);
      return toldRow("turn", onclick, `${verb} if ${words}`, `now ${was}`);
    });
    $("turns").replaceChildren(...rows);
    $("no-turn").hidden = rows.length > 0;
  }

  // The rows most like the sample, with their labels.
  showNeighbours() {
    const { samples, now } = this;
    const near = samples.nearest(
      this.system,
      this.x,
      now.z,
      this.example,
      MAX_NEIGHBOURS,
    );
    const rows = near.map((i) => {
      return toldRow("neighbour", () => this.go(i), samples.name(i), samples.told(i));
    });
    $("neighbours").replaceChildren(...rows);
  }

  // Choose label j.
  choose(j) {
    this.label = j;
    this.reach = this.system.reach(j);
    this.labels.select(j);
    this.cards.select(j);
    this.showPairs();
    $("order-label").textContent = `that matter for ${this.data.labels[j]}`;
    this.why.show(j, this.x, this.now);
    if ($("order").value === "label" || !this.controls.length) this.list(this.shown);
    else this.showControls();
    this.drawMap();
    if (!this.quiet) this.editor.show();
    this.consider();
    this.save();
  }

  // Choose the label that many places further down the list.
  move(by) {
    const { order, rows } = this.labels;
    const at = clamped(order.indexOf(this.label) + by, 0, order.length - 1);
    this.choose(order[at]);
    rows[order[at]].node.focus();
  }

  // Show more cards of exceptions.
  showMoreRules() {
    this.cards.count += 2 * CONTROLS_SHOWN;
    this.settle();
  }

  // Draw the pairs of the chosen label, and one that was asked for.
  showPairs(asked = -1) {
    this.pairs.select(this.label, asked);
    this.pairs.show(this.x, this.now);
  }

  // Show more heat maps of pairs.
  showMorePairs() {
    this.pairs.count += FIRST_MAPS;
    this.showPairs();
  }

  // List the first so many features of those that are searched for.
  list(count) {
    const wanted = $("search").value.trim().toLowerCase();
    const matching = this.rankedFeatures().filter((f) => {
      return this.data.features[f].toLowerCase().includes(wanted);
    });
    this.shown = Math.max(CONTROLS_SHOWN, count);
    this.show(matching.slice(0, this.shown));
    const isMore = matching.length > this.shown;
    const all = times(matching.length, "feature");
    const part = `${Math.min(this.shown, matching.length)} of ${all}`;
    $("more").hidden = !isMore;
    $("found").textContent = wanted || isMore ? part : all;
  }

  // Features in the order that was chosen.
  rankedFeatures() {
    const order = $("order").value;
    const all = [...this.data.features.keys()];
    if (order === "name") {
      const name = (f) => this.data.features[f];
      const numeric = { numeric: true };
      return all.sort((a, b) => name(a).localeCompare(name(b), "en", numeric));
    }
    const sizes = this.features.fold(this.columnSizes(order));
    return all.sort((a, b) => sizes[b] - sizes[a]);
  }

  // How much each column matters, by the order that was chosen.
  columnSizes(order) {
    if (order === "rules") return this.system.separation();
    return this.system.relevance(order === "label" ? this.label : -1);
  }

  // Show the controls of some features.
  show(wanted) {
    this.controls = wanted.map((f) => this.control(f));
    keepingFocus($("features"), () => {
      $("features").replaceChildren(...this.controls.map(({ node }) => node));
    });
    this.showControls();
  }

  // Show the values of the sample in the controls.
  showControls() {
    for (const control of this.controls) {
      const value = this.features.value(control.f, this.x);
      control.show(value, this.now, this.label, this.reach);
    }
  }

  // The control of feature f, made when it is first asked for.
  control(f) {
    if (!this.made.has(f)) {
      const curve = new ShapeCurve(f, this.features, this.system, this.norm);
      const onset = (...change) => this.set(...change);
      const control = new FeatureControl(f, this.features, curve, onset);
      if (this.editor.isOffered) control.addEdit(() => this.edit(f));
      this.made.set(f, control);
    }
    return this.made.get(f);
  }

  // Search features by some words.
  search(words) {
    $("search").value = words;
    this.list(CONTROLS_SHOWN);
  }

  // Bring the control of feature f into view, wherever it stands in the order.
  reveal(f) {
    const isShown = this.controls.some((control) => control.f === f);
    if (!isShown) this.search(this.data.features[f]);
    const { node } = this.controls.find((control) => control.f === f);
    node.scrollIntoView({ block: "nearest", behavior: "smooth" });
    node.querySelector("input, select").focus({ preventScroll: true });
    node.classList.remove("flash");
    requestAnimationFrame(() => node.classList.add("flash"));
  }

  // Bring the card of exception k into view.
  visit(k) {
    this.rule = k;
    this.cards.arrange(this.x, this.now.m, k);
    const { node } = this.cards.card(k);
    node.scrollIntoView({ block: "center", behavior: "smooth" });
    node.focus({ preventScroll: true });
    this.save();
  }

  // Bring the heat map of pair p into view.
  visitPair(p) {
    this.showPairs(p);
    const { node } = this.pairs.maps[this.pairs.order.indexOf(p)];
    node.scrollIntoView({ block: "center", behavior: "smooth" });
    node.focus({ preventScroll: true });
  }

  // Whether the page is dark now, by the button or by the system.
  isDark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : DARK_SCHEME.matches;
  }

  // Light becomes dark, dark becomes light.
  toggleTheme() {
    document.documentElement.dataset.theme = this.isDark() ? "light" : "dark";
    this.drawMap();
  }

  // Draw the map of labels in the colours of the page.
  drawMap() {
    this.map.show(this.label, this.isDark());
  }
}

// A row of words with a note, which can be clicked.
function toldRow(kind, onclick, words, note) {
  const parts = [h("span", { text: words }), h("span", { class: "note", text: note })];
  return h("li", {}, link(kind, onclick, parts));
}

document.addEventListener("DOMContentLoaded", () => {
  window.explorer = new Explorer(JSON.parse($("model").textContent));
});
