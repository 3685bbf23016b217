// One sample, one chosen label, a model of some length, and everything that follows from them.

const PAGE = 12; // controls shown at a time
const MOST_TURNS = 4;
const NEIGHBOURS = 5;
const PAUSE = 200; // milliseconds

class Explorer {
  constructor(data) {
    Object.assign(this, { whole: data, root: $("explorer"), label: 0, rule: -1, shown: PAGE });
    this.samples = new Samples(data);
    this.x = new Float64Array(this.samples.D);
    this.start = this.x.slice(); // the sample before it was changed
    this.norm = () => Math.sqrt(this.x.reduce((sum, value) => sum + value * value, 0));
    this.map = new LabelMap(data, (j) => this.choose(j));
    this.sizes = new Sizes(data.sizes, (i) => this.resize(i));
    this.first = data.rows?.typical[0] ?? 0;
    this.finder = new Finder(this.samples, (i) => this.go(i));
    this.listen();
    this.listenToKeys();
    this.build();
    this.begin();
  }

  // Everything that depends on the length of the model.
  build() {
    const onfeature = (d) => this.reveal(d);
    const onlabel = (j) => this.choose(j);
    const data = this.data = { ...this.whole, ...this.whole.sizes[this.sizes.at] };
    const system = this.system = new FuzzySystem(data);
    const features = this.features = new Features(data, system);
    this.labels = new LabelList(data, system, onlabel);
    this.columns = new FiringColumns(data, (k) => this.visit(k));
    this.why = new Why(data, features, system, onfeature, (k) => this.visit(k));
    this.cards = new RuleCards(data, features, system, this.norm, onlabel, onfeature);
    this.turns = new Turns(features, system);
    Object.assign(this, { controls: [], made: new Map() });
    for (const id of ["firing-card", "by-rule-title"]) $(id).hidden = !system.K;
    $("within-title").hidden = $("within").hidden = system.rows < 2;
    this.sizes.show(this.sizes.at);
    const counts = [[system.K, data.noun.toLowerCase()], [data.features.length, "feature"], [system.L, "label"]];
    if ($("counts")) $("counts").textContent = counts.filter(([n]) => n).map(([n, noun]) => times(n, noun)).join(" · ");
  }

  // The state in the address, or the first sample and its strongest label.
  begin() {
    const state = readState(location.hash, this) ?? { example: -1, label: -1, values: [], size: this.sizes.sizes.length - 1, rule: -1 };
    if (state.size !== this.sizes.at) {
      this.sizes.at = state.size;
      this.build();
    }
    this.quietly(() => {
      this.load(state.example < 0 ? this.first : state.example);
      for (const [f, value] of state.values) this.features.set(f, value, this.x);
      this.refresh();
      this.choose(state.label < 0 ? this.system.foremost(this.now.scores) : state.label);
      this.rule = state.rule < this.system.K ? state.rule : -1;
      this.settle();
    });
  }

  // Several steps as one: what takes long is done once, and the address is left to the caller.
  quietly(act) {
    this.quiet = true;
    act();
    this.quiet = false;
    this.consider();
  }

  // Put the state into the address; another sample is a step that the back button takes back.
  save(isStep = false) {
    if (this.quiet || writeState(this) === location.hash) return;
    try {
      history[isStep ? "pushState" : "replaceState"](null, "", writeState(this));
    } catch { /* browsers refuse this in some places, or many in a short time */ }
  }

  listen() {
    $("search").addEventListener("input", () => this.list(PAGE));
    $("order").addEventListener("change", () => this.list(PAGE));
    $("label-order").addEventListener("change", () => this.settle());
    $("label-order").value = this.whole.labels.length > 20 ? "score" : "given";
    const clicks = {
      "more-rules": () => { this.cards.count += 2 * PAGE; this.settle(); }, more: () => this.list(this.shown + 2 * PAGE),
      previous: () => this.step(-1), next: () => this.step(1), reset: () => this.reset(), print: () => print(),
      theme: () => this.toggleTheme(), help: () => $("keys").showModal(),
    };
    for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
    $("map-kind").hidden = !this.map.tables.labels;
    $("map-kind").addEventListener("change", (event) => {
      this.map.kind = event.target.value;
      this.drawMap();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawMap());
    addEventListener("popstate", () => (location.hash.startsWith(MARK) || !location.hash) && this.begin());
    addEventListener("beforeprint", () => fillSheet(this));
  }

  listenToKeys() {
    $("labels").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
      if (!step) return;
      event.preventDefault();
      this.move(step, true);
    });
    const place = document.body.classList.contains("explorer-page") ? document : this.root; // a host has keys of its own
    place.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
      if (event.key === "Escape" && event.target === $("search")) this.search("");
      if (event.target.closest?.("input, select, textarea")) return;
      const act = {
        "/": () => $("search").focus(), "?": () => $("keys").showModal(), n: () => this.step(1), p: () => this.step(-1), f: () => $("find").focus(),
        r: () => this.reset(), j: () => this.move(1, true), k: () => this.move(-1, true), t: () => this.toggleTheme(),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  load(i) {
    this.example = i;
    this.samples.fill(i, this.x);
    this.start.set(this.x);
    this.truth = this.samples.truth(i);
    this.finder.show(i);
    this.refresh();
    this.settle();
  }

  go(i) {
    this.quietly(() => this.load(i));
    this.save(true);
  }

  step(by) {
    this.go((this.example + by + this.samples.count) % this.samples.count);
  }

  reset() {
    this.load(this.example);
  }

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

  set(d, value, done) {
    this.features.set(d, value, this.x);
    this.schedule(done);
  }

  // At most one update a frame, however fast a slider moves.
  schedule(done) {
    this.settling = this.settling || done;
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      this.refresh();
      if (this.settling) this.settle();
      this.settling = false;
    });
  }

  refresh() {
    this.now = this.system.evaluate(this.x);
    this.given = this.system.given(this.now.scores);
    this.labels.show(this.now.scores, this.given, this.truth);
    this.why.show(this.label, this.x, this.now);
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

  // What looks at many other samples; of a large model, when nothing has moved for a while.
  consider() {
    if (this.quiet) return;
    clearTimeout(this.pause);
    const act = () => {
      this.showTurns();
      if (this.whole.neighbours) this.showNeighbours();
    };
    if (this.system.K * this.system.D > LARGE) this.pause = setTimeout(act, PAUSE);
    else act();
  }

  summarise() {
    const names = this.data.labels.filter((_, j) => this.given[j]);
    const chips = names.slice(0, 6).map((name) => h("span", { class: "chip", text: name, title: name }));
    if (names.length > 6) chips.push(h("span", { class: "chip quiet", text: `${names.length - 6} more` }));
    if (!names.length) chips.push(h("span", { class: "chip quiet", text: "no label" }));
    $("chips").replaceChildren(...chips);
    $("changed").hidden = $("reset").hidden = this.x.every((value, d) => Object.is(value, this.start[d]));
    $("strongest").textContent = this.strongest();
  }

  strongest() {
    const { m } = this.now;
    const best = m.indexOf(Math.max(...m));
    return best < 0 ? "" : `${this.data.noun} ${best + 1} is strongest, ${percent(m[best])}`;
  }

  // For those who hear the page: which labels are given, when that changed.
  announce() {
    const names = this.data.labels.filter((_, j) => this.given[j]);
    const said = `${names.length ? `Given: ${listed(names, 8)}` : "No label is given"}. ${this.strongest()}`;
    if ($("status").textContent !== said) $("status").textContent = said;
  }

  showTurns() {
    const among = this.system.scaleKind === "unit" ? this.controls.map(({ d }) => d) : [...this.data.features.keys()];
    const { given, turns } = this.turns.of(this.label, this.x, this.now, among, MOST_TURNS);
    const told = ({ f, value, words, was }) => h("li", {}, link("turn", () => this.set(f, value, true), [
      h("span", { text: `${given ? "no longer given" : "given"} if ${words}` }), h("span", { class: "note", text: `now ${was}` })]));
    $("turns").replaceChildren(...turns.map(told));
    $("no-turn").hidden = turns.length > 0;
  }

  showNeighbours() {
    const near = this.samples.nearest(this.system, this.x, this.now.z, this.example, NEIGHBOURS);
    $("neighbours").replaceChildren(...near.map((i) => h("li", {}, link("neighbour", () => this.go(i), [
      h("span", { text: this.samples.name(i) }), h("span", { class: "note", text: this.samples.told(i) })]))));
  }

  choose(j) {
    this.label = j;
    this.reach = this.system.reach(j);
    this.labels.select(j);
    this.cards.select(j);
    $("order-label").textContent = `that matter for ${this.data.labels[j]}`;
    this.why.show(j, this.x, this.now);
    if ($("order").value === "label" || !this.controls.length) this.list(this.shown);
    else this.showControls();
    this.drawMap();
    this.consider();
    this.save();
  }

  move(by, focus) {
    const order = this.labels.order;
    const at = Math.min(order.length - 1, Math.max(0, order.indexOf(this.label) + by));
    this.choose(order[at]);
    if (focus) this.labels.rows[order[at]].node.focus();
  }

  list(count) {
    const wanted = $("search").value.trim().toLowerCase();
    const found = this.ranked().filter((d) => this.data.features[d].toLowerCase().includes(wanted));
    this.shown = Math.max(PAGE, count);
    this.show(found.slice(0, this.shown));
    $("more").hidden = found.length <= this.shown;
    $("found").textContent = wanted || found.length > this.shown
      ? `${Math.min(this.shown, found.length)} of ${times(found.length, "feature")}` : times(found.length, "feature");
  }

  ranked() {
    const by = $("order").value;
    const all = this.data.features.map((_, d) => d);
    if (by === "name") return all.sort((a, b) => this.data.features[a].localeCompare(this.data.features[b], "en", { numeric: true }));
    const size = by === "rules" ? this.system.separation() : this.system.relevance(by === "label" ? this.label : -1);
    const sizes = this.features.fold(size);
    return all.sort((a, b) => sizes[b] - sizes[a]);
  }

  show(wanted) {
    this.controls = wanted.map((d) => this.control(d));
    const focused = document.activeElement;
    $("features").replaceChildren(...this.controls.map((control) => control.node));
    if ($("features").contains(focused)) focused.focus({ preventScroll: true });
    this.showControls();
  }

  showControls() {
    for (const control of this.controls) control.show(this.features.value(control.d, this.x), this.now, this.label, this.reach);
  }

  control(d) {
    if (!this.made.has(d)) {
      const curve = shapeCurve(d, this.features, this.system, this.norm);
      this.made.set(d, featureControl(d, this.features, curve, (...args) => this.set(...args)));
    }
    return this.made.get(d);
  }

  search(words) {
    $("search").value = words;
    this.list(PAGE);
  }

  // Bring a feature's control into view, wherever it stands in the order.
  reveal(d) {
    if (!this.controls.some((control) => control.d === d)) this.search(this.data.features[d]);
    const { node } = this.controls.find((control) => control.d === d);
    node.scrollIntoView({ block: "nearest", behavior: "smooth" });
    node.querySelector("input, select").focus({ preventScroll: true });
    node.classList.remove("flash");
    requestAnimationFrame(() => node.classList.add("flash"));
  }

  visit(k) {
    this.rule = k;
    this.cards.arrange(this.x, this.now.m, k);
    const { node } = this.cards.card(k);
    node.scrollIntoView({ block: "center", behavior: "smooth" });
    node.focus({ preventScroll: true });
    this.save();
  }

  dark() {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  }

  toggleTheme() {
    document.documentElement.dataset.theme = this.dark() ? "light" : "dark";
    this.drawMap();
  }

  drawMap() {
    this.map.show(this.label, this.dark());
  }
}

document.addEventListener("DOMContentLoaded", () => {
  window.explorer = new Explorer(JSON.parse($("model").textContent));
});
