// The curve of one feature for one label, with points that can be dragged.

const EDIT_STEP = 0.05; // log-odds by which a key moves a point
const EDIT_STEPS = {
  ArrowUp: EDIT_STEP,
  ArrowRight: EDIT_STEP,
  ArrowDown: -EDIT_STEP,
  ArrowLeft: -EDIT_STEP,
  PageUp: 10 * EDIT_STEP,
  PageDown: -10 * EDIT_STEP,
};
const TICK_ROOM = 12; // percent of the width that a value needs
const LEAST_EDIT_REACH = 0.5; // log-odds that the picture has room for
const MOST_EFFECT = 20; // log-odds that a point can be dragged to

// A picture of a curve before and after edits; onmove(value, effect, isDone) is called
// while a point moves (isDone is false) and when it rests.
class EditCurve {
  constructor(onmove) {
    this.onmove = onmove;
    this.handles = [];
    this.reach = LEAST_EDIT_REACH;
    const fixed = { "vector-effect": "non-scaling-stroke" };
    const frame = {
      class: "edit-picture",
      viewBox: `0 0 100 ${CURVE_HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    };
    const middle = CURVE_HEIGHT / 2;
    const level = { class: "level", x1: 0, x2: 100, y1: middle, y2: middle, ...fixed };
    this.before = svg("path", { class: "before", ...fixed });
    this.curve = svg("path", { class: "curve", ...fixed });
    this.picture = svg("svg", frame, svg("line", level), this.before, this.curve);
    this.high = h("span", { class: "edit-high" });
    this.low = h("span", { class: "edit-low" });
    this.plot = h("div", { class: "edit-plot" }, this.picture);
    this.ticks = h("div", { class: "edit-ticks", "aria-hidden": "true" });
    this.node = h("div", {}, this.high, this.plot, this.low, this.ticks);
  }

  // Begin with another feature or label: points at these values.
  begin(f, values, features, name) {
    this.f = f;
    this.features = features;
    this.handles = values.map((value) => this.handle(value, name));
    this.plot.replaceChildren(this.picture, ...this.handles.map(({ node }) => node));
    this.showTicks(values);
  }

  // Values below their points; of points that are close together, those with room. The
  // ends come first.
  showTicks(values) {
    const shown = [];
    for (const value of [values[0], values[values.length - 1], ...values]) {
      const left = value === undefined ? 0 : this.left(value);
      const hasRoom = shown.every((other) => Math.abs(other.left - left) >= TICK_ROOM);
      if (hasRoom && value !== undefined) shown.push({ value, left });
    }
    const ticks = shown.map(({ value, left }) => {
      const tick = h("span", { text: this.features.brief(this.f, value) });
      tick.style.left = `${left}%`;
      return tick;
    });
    this.ticks.replaceChildren(...ticks);
  }

  // How far to the right a value stands, in percent.
  left(value) {
    return this.features.positionOf(this.f, value) / (SLIDER_STEPS / 100);
  }

  // A point that can be dragged, and moved by keys.
  handle(value, name) {
    const where = this.features.brief(this.f, value);
    const node = h("span", {
      class: "edit-handle",
      role: "slider",
      tabindex: 0,
      "aria-orientation": "vertical",
      "aria-valuemin": -MOST_EFFECT,
      "aria-valuemax": MOST_EFFECT,
      "aria-label": `${name} at ${where}`,
      "data-value": value,
    });
    const handle = { node, value, effect: 0 };
    node.style.left = `${this.left(value)}%`;
    node.addEventListener("pointerdown", (event) => this.grab(event, handle));
    node.addEventListener("keydown", (event) => {
      const step = EDIT_STEPS[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      const moved = Math.round((handle.effect + step) / EDIT_STEP) * EDIT_STEP;
      this.onmove(value, this.within(Number(moved.toFixed(2))), true);
    });
    return handle;
  }

  // An effect that a point can be dragged to.
  within(effect) {
    return clamped(effect, -MOST_EFFECT, MOST_EFFECT);
  }

  // Follow a finger or a mouse until it lets go; the scale stays as it is meanwhile.
  // How far it went counts, not where it is: the page around may move.
  grab(event, handle) {
    if (event.button > 0) return;
    event.preventDefault();
    handle.node.focus();
    handle.node.setPointerCapture(event.pointerId);
    this.isHeld = true;
    const start = handle.effect;
    let last = null;
    const follow = (move) => {
      last = this.moved(start, event.clientY - move.clientY);
      this.onmove(handle.value, last, false);
    };
    const finish = () => {
      handle.node.removeEventListener("pointermove", follow);
      this.isHeld = false;
      if (last !== null) this.onmove(handle.value, last, true);
    };
    handle.node.addEventListener("pointermove", follow);
    handle.node.addEventListener("lostpointercapture", finish, { once: true });
  }

  // An effect that many pixels higher, to two decimals.
  moved(effect, pixels) {
    const perPixel = (2.1 * this.reach) / this.plot.getBoundingClientRect().height;
    return this.within(Number((effect + perPixel * pixels).toFixed(2)));
  }

  // Show the effects of two systems, before and after edits, on label j; `points` are
  // those that were set, by value.
  show(before, after, j, points) {
    const column = this.features.at[this.f];
    const amounts = (system) => sampled((t) => {
      const value = this.features.between(this.f, t);
      return system.effect(column, system.place(column, value, 1), j);
    });
    const old = amounts(before);
    const now = amounts(after);
    if (!this.isHeld) {
      const largest = Math.max(...[...old, ...now].map(Math.abs));
      this.reach = Math.max(LEAST_EDIT_REACH, 1.3 * largest);
    }
    this.before.setAttribute("d", curvePath(old, this.reach));
    this.curve.setAttribute("d", curvePath(now, this.reach));
    this.high.textContent = `${signed(this.reach, 1)} log-odds: more likely`;
    this.low.textContent = `${signed(-this.reach, 1)}: less likely`;
    for (const handle of this.handles) {
      const place = after.place(column, handle.value, 1);
      handle.effect = after.effect(column, place, j);
      handle.node.style.top = `${100 * depthOf(handle.effect, this.reach)}%`;
      handle.node.classList.toggle("set", points.has(handle.value));
      handle.node.ariaValueNow = handle.effect.toFixed(2);
      const isSet = points.has(handle.value) ? ", set by you" : "";
      handle.node.ariaValueText = `${signed(handle.effect, 2)} log-odds${isSet}`;
    }
  }
}
