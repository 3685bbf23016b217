// One sample, one chosen label, and everything that follows from them.

const PAGE = 12; // controls shown at a time

class Explorer {
  constructor(data) {
    this.system = new FuzzySystem(data);
    this.features = new Features(data, this.system);
    this.rows = unpack(data.rows, Float64Array);
    this.x = new Float64Array(this.system.D);
    Object.assign(this, { data, label: 0, example: 0, shown: PAGE, controls: [], made: new Map() });
    this.norm = () => Math.sqrt(this.x.reduce((sum, value) => sum + value * value, 0));
    this.build();
    this.load(0);
    this.choose(this.system.foremost(this.now.scores));
  }

  build() {
    const { data, features, system } = this;
    const onfeature = (d) => this.reveal(d);
    const onlabel = (j) => this.choose(j);
    this.labels = new LabelList(data, system, onlabel);
    this.columns = new FiringColumns(data, (k) => this.visit(k));
    this.why = new Why(data, features, system, onfeature, (k) => this.visit(k));
    this.cards = new RuleCards(data, features, system, this.norm, onlabel, onfeature);
    this.map = new LabelMap(data, onlabel);
    $("example").append(...data.examples.map((e, i) => h("option", { value: i, text: e.name })));
    $("map-kind").hidden = !this.map.tables.labels;
    if (system.L > 20) $("label-order").value = "score";
    this.listen();
    this.listenToKeys();
  }

  listen() {
    $("example").addEventListener("change", (event) => this.load(Number(event.target.value)));
    $("search").addEventListener("input", () => this.list(PAGE));
    $("order").addEventListener("change", () => this.list(PAGE));
    $("label-order").addEventListener("change", () => this.settle());
    const clicks = {
      "more-rules": () => { this.cards.count += 2 * PAGE; this.settle(); }, previous: () => this.step(-1), next: () => this.step(1), more: () => this.list(this.shown + 2 * PAGE),
      theme: () => this.toggleTheme(), help: () => $("keys").showModal(),
    };
    for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
    $("map-kind").addEventListener("change", (event) => {
      this.map.kind = event.target.value;
      this.drawMap();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawMap());
  }

  listenToKeys() {
    $("labels").addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
      if (!step) return;
      event.preventDefault();
      this.move(step, true);
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
      if (event.key === "Escape" && event.target === $("search")) this.search("");
      if (event.target.closest("input, select, textarea")) return;
      const act = {
        "/": () => $("search").focus(), "?": () => $("keys").showModal(), n: () => this.step(1), p: () => this.step(-1),
        j: () => this.move(1, true), k: () => this.move(-1, true), t: () => this.toggleTheme(),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
  }

  load(i) {
    this.example = i;
    this.x.set(this.rows.subarray(i * this.system.D, (i + 1) * this.system.D));
    const truth = this.data.examples[i].truth;
    this.truth = truth ? new Set(truth) : null;
    $("example").value = String(i);
    this.changed = false;
    this.refresh();
    this.settle();
  }

  step(by) {
    const count = this.data.examples.length;
    this.load((this.example + by + count) % count);
  }

  set(d, value, done) {
    this.features.set(d, value, this.x);
    this.changed = true;
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
    const given = this.system.given(this.now.scores);
    this.labels.show(this.now.scores, given, this.truth);
    this.why.show(this.label, this.x, this.now);
    this.cards.show(this.x, this.now.m);
    this.columns.show(this.now.m);
    this.showControls();
    this.summarise(given);
  }

  // What would be restless while a slider moves happens when it rests: orders of labels and cards.
  settle() {
    this.labels.sort(this.now.scores, $("label-order").value === "score");
    this.cards.arrange(this.x, this.now.m);
    this.columns.arrange(this.now.m);
  }

  summarise(given) {
    const names = this.data.labels.filter((_, j) => given[j]);
    const { m } = this.now;
    const best = m.indexOf(Math.max(...m));
    const most = best < 0 ? "" : `${this.data.noun} ${best + 1} is strongest, ${percent(m[best])}`;
    const chips = names.slice(0, 6).map((name) => h("span", { class: "chip", text: name, title: name }));
    if (names.length > 6) chips.push(h("span", { class: "chip quiet", text: `${names.length - 6} more` }));
    if (!names.length) chips.push(h("span", { class: "chip quiet", text: "no label" }));
    $("chips").replaceChildren(...chips);
    $("status").textContent = `${names.length ? listed(names, 8) : "No label"}. ${most}`;
    $("changed").hidden = !this.changed;
    $("strongest").textContent = most;
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
    this.cards.arrange(this.x, this.now.m, k);
    const { node } = this.cards.card(k);
    node.scrollIntoView({ block: "center", behavior: "smooth" });
    node.focus({ preventScroll: true });
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
