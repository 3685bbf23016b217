// How long the model may be: a slider over models of a few terms per label, with how good each honestly is.

class Sizes {
  constructor(sizes, onsize) {
    this.sizes = sizes;
    this.at = sizes.length - 1;
    if (!sizes.length) return;
    const slider = $("size");
    slider.max = String(this.at);
    this.ticks = sizes.map(({ size, AP }, i) => link("size-tick", () => onsize(i),
      [h("span", { class: "size-terms", text: i < this.at ? String(size) : "all" }), h("span", { class: "size-ap", text: AP === null ? "–" : AP.toFixed(3) })]));
    this.ticks.forEach((tick) => { tick.tabIndex = -1; });
    slider.style.margin = `0 calc(50% / ${sizes.length} - 8px)`;
    slider.style.width = `calc(100% - 100% / ${sizes.length} + 16px)`;
    $("size-ticks").replaceChildren(...this.ticks);
    slider.addEventListener("input", () => onsize(Number(slider.value)));
  }

  show(i) {
    this.at = i;
    if (!this.sizes.length) return;
    const { size, AP } = this.sizes[i];
    const last = this.sizes[this.sizes.length - 1];
    const whole = i === this.sizes.length - 1;
    const good = (ap) => (ap === null ? "" : ap.toFixed(3));
    $("size").value = String(i);
    $("size").ariaValueText = `${whole ? `all ${size}` : `at most ${size}`} statements per label${AP === null ? "" : `, average precision ${good(AP)}`}`;
    $("size-said").textContent = whole ? `The whole model: up to ${times(size, "statement")} about each label.`
      : `At most ${times(size, "statement")} about each label; the whole model has up to ${last.size}.`;
    this.ticks.forEach((tick, k) => { tick.ariaCurrent = k === i ? "true" : null; });
  }
}
