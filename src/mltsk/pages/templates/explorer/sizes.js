// How long the model may be: a slider over models of a few terms per label, with how
// good each honestly is.

class Sizes {
  constructor(sizes, onsize) {
    this.sizes = sizes; // the shortest first, the whole model last
    this.at = this.last;
    this.onsize = onsize;
    if (sizes.length) this.build();
  }

  // The position of the whole model, -1 where there are no others.
  get last() {
    return this.sizes.length - 1;
  }

  // Whether the whole model is shown.
  get isWhole() {
    return this.at === this.last;
  }

  // The position of the model with so many terms, or of the whole one.
  ofTerms(text) {
    const at = this.sizes.findIndex(({ size }) => String(size) === text);
    return at < 0 ? this.last : at;
  }

  // The slider, with a button below each of its places.
  build() {
    const slider = $("size");
    const count = this.sizes.length;
    this.ticks = this.sizes.map((_, i) => this.tick(i));
    slider.max = String(this.last);
    slider.style.margin = `0 calc(50% / ${count} - 8px)`;
    slider.style.width = `calc(100% - 100% / ${count} + 16px)`;
    slider.addEventListener("input", () => this.onsize(Number(slider.value)));
    $("size-ticks").replaceChildren(...this.ticks);
  }

  // A length and how good the model of that length is.
  tick(i) {
    const { size, AP } = this.sizes[i];
    const terms = i < this.last ? String(size) : "all";
    const quality = AP === null ? "–" : AP.toFixed(2);
    const node = link("size-tick", () => this.onsize(i), [
      h("span", { class: "size-terms", text: terms }),
      h("span", { class: "size-ap", text: quality }),
    ]);
    node.tabIndex = -1; // the slider does the same
    return node;
  }

  // Show which length was chosen.
  show(i) {
    this.at = i;
    if (!this.sizes.length) return;
    const { size, AP } = this.sizes[i];
    const most = this.sizes[this.last].size;
    const isAll = size === most;
    const quality = AP === null ? "" : `, average precision ${AP.toFixed(2)}`;
    const length = `${isAll ? "all" : "at most"} ${size} statements per label`;
    const statements = times(size, "statement");
    const whole = `The whole model: up to ${statements} about each label.`;
    const short =
      `At most ${statements} about each label; ` +
      `the whole model has up to ${counted(most)}.`;
    $("size").value = String(i);
    $("size").ariaValueText = length + quality;
    $("size-said").textContent = isAll ? whole : short;
    this.ticks.forEach((tick, k) => {
      tick.ariaCurrent = k === i ? "true" : null;
    });
  }
}
