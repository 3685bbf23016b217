// How long the model may be: a slider over models of a few terms per label, with how good each honestly is.

class Sizes {
  constructor(sizes, onsize) {
    this.sizes = sizes;
    this.at = sizes.length - 1;
    if (!sizes.length) return;
    const slider = $("size");
    slider.max = String(this.at);
    const good = (AP) => (AP === null ? "–" : AP.toFixed(3));
    this.ticks = sizes.map(({ size, AP }, i) => link("size-tick", () => onsize(i), [
      h("span", { class: "size-terms", text: i < this.at ? String(size) : "all" }), h("span", { class: "size-ap", text: good(AP) })]));
    for (const tick of this.ticks) tick.tabIndex = -1; // the slider does the same
    slider.style.margin = `0 calc(50% / ${sizes.length} - 8px)`;
    slider.style.width = `calc(100% - 100% / ${sizes.length} + 16px)`;
    $("size-ticks").replaceChildren(...this.ticks);
    slider.addEventListener("input", () => onsize(Number(slider.value)));
  }

  show(i) {
    this.at = i;
    if (!this.sizes.length) return;
    const [{ size, AP }, last] = [this.sizes[i], this.sizes[this.sizes.length - 1]];
    const length = size === last.size ? `all ${size}` : `at most ${size}`;
    $("size").value = String(i);
    $("size").ariaValueText = `${length} statements per label${AP === null ? "" : `, average precision ${AP.toFixed(3)}`}`;
    $("size-said").textContent = size === last.size ? `The whole model: up to ${times(size, "statement")} about each label.`
      : `At most ${times(size, "statement")} about each label; the whole model has up to ${last.size.toLocaleString("en-US")}.`;
    this.ticks.forEach((tick, k) => { tick.ariaCurrent = k === i ? "true" : null; });
  }
}
