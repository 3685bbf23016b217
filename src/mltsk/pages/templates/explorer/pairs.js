// Features that act together: a heat map for each pair, with the sample's own cell.

const FIRST_MAPS = 4; // pairs at first; each click shows as many more
// Per cent of its colour that the largest height of a map has: with more, numbers have a
// contrast of less than 4.5 in dark mode.
const MAX_TINT = 50;
const HARDLY_ANY_DATA = 0.002; // cells with a smaller share of the data are dashed
// What is less hardly moves a label: .005 log-odds are a tenth of a per cent.
const MIN_TOLD_HEIGHT = { logOdds: 0.005, scores: 0.0005 };
const CLEAR_STEP = 0.05; // of the largest height: a sample lies between two cells

// The pairs of a model, those that move the chosen label most first.
class PairMaps {
  constructor(data, features, system, onfeature) {
    Object.assign(this, { data, features, system, onfeature });
    this.blocks = data.pairs.blocks;
    this.count = FIRST_MAPS;
    this.maps = []; // those that are shown
    this.order = [];
  }

  // The names of both features of pair p.
  title(p) {
    return this.blocks[p].axes.map(({ title }) => title).join(" and ");
  }

  // Both values of pair p in sample x, in short.
  values(p, x) {
    const { features, blocks } = this;
    const brief = (f) => features.brief(f, features.value(f, x));
    return blocks[p].features.map(brief).join(" and ");
  }

  // Both values of pair p in sample x, with the names of the features.
  said(p, x) {
    const { features, blocks } = this;
    const told = blocks[p].features.map((f) => {
      return `${features.names[f]} ${features.brief(f, features.value(f, x))}`;
    });
    return told.join(" and ");
  }

  // Draw the maps of label j; `asked` is a pair that was asked for.
  select(j, asked = -1) {
    const section = $("pairs-card");
    if (!section) return;
    const sizes = this.system.pairs.map((pair) => this.system.pairSize(pair, j));
    const reaches = sizes.map((_, p) => this.reach(p, j));
    const scale = this.system.hasLogOdds ? "logOdds" : "scores";
    const moving = largest(sizes, sizes.length).filter((p) => {
      return reaches[p] >= MIN_TOLD_HEIGHT[scale] || p === asked;
    });
    const strongest = Math.max(...reaches); // has the full colour
    this.order = moving.filter((p, i) => i < this.count || p === asked);
    this.maps = this.order.map((p) => new PairMap(this, p, j, strongest));
    section.hidden = !this.blocks.length;
    $("pair-maps").replaceChildren(...this.maps.map(({ node }) => node));
    $("more-pairs").hidden = this.order.length === moving.length;
    $("no-pairs").hidden = moving.length > 0;
    $("pairs-label").textContent = this.data.labels[j];
  }

  // Mark the cells of the sample.
  show(x, now) {
    for (const map of this.maps) map.show(x, now);
  }

  // Where the conditions of pair p begin on each axis: the smaller one of two values
  // has no condition.
  offsets(p) {
    const { conditions } = this.system.pairs[p];
    return this.blocks[p].axes.map(({ ticks }, side) => {
      return ticks.length - conditions[side].length;
    });
  }

  // What both values of each cell of pair p add to label j, 0 on average.
  heights(p, j) {
    return this.system.pairHeights(this.system.pairs[p], j);
  }

  // The largest height of pair p, up or down.
  reach(p, j) {
    return Math.max(...this.heights(p, j).flat().map(Math.abs));
  }

  // The cell of pair p that a sample meets most, or null where a value is missing.
  ownCell(p, now) {
    const { conditions, columns } = this.system.pairs[p];
    const offsets = this.offsets(p);
    const cell = [0, 1].map((side) => {
      const place = now.z[columns[side]];
      const met = conditions[side].map((c) => this.system.meets(c, place));
      if (met.some(Number.isNaN)) return NaN;
      if (offsets[side]) met.unshift(1 - met[0]);
      return met.indexOf(Math.max(...met));
    });
    return cell.some(Number.isNaN) ? null : cell;
  }
}

// The heat map of pair p for label j: larger values are up and to the right. The height
// `strongest` has the full colour.
class PairMap {
  constructor(maps, p, j, strongest) {
    Object.assign(this, { maps, p, j, strongest });
    this.block = maps.blocks[p];
    this.heights = maps.heights(p, j);
    this.shares = maps.system.pairs[p].shares;
    this.reach = maps.reach(p, j);
    this.digits = digitsOf(this.reach);
    this.own = h("p", { class: "own-height" });
    this.marked = null; // the cell of the sample
    this.draw();
  }

  // The card: a heading, what the pair says, the map, and what it adds here.
  draw() {
    const { block, maps, p } = this;
    const names = block.features.map((f, side) => {
      return textLink(() => maps.onfeature(f), block.axes[side].title);
    });
    const props = { class: "rule pair", id: `x-pair-${p}`, tabindex: -1 };
    this.node = h("article", props, [
      h("h3", {}, names[0], " and ", names[1]),
      h("p", { class: "pair-says", text: this.says() }),
      this.table(),
      this.own,
    ]);
  }

  // A table: a row per value of the first feature, the largest first.
  table() {
    const [rows, columns] = this.block.axes;
    this.boxes = this.heights.map((row, a) => row.map((_, b) => this.box(a, b)));
    const body = this.boxes.map((boxes, a) => {
      const tick = h("th", { scope: "row", text: rows.ticks[a] });
      return h("tr", {}, tick, boxes);
    });
    const ticks = columns.ticks.map((text) => h("th", { scope: "col", text }));
    const axis = (kind, text) => {
      const wide = { class: kind, colspan: columns.ticks.length + 1, text };
      return h("tr", {}, h("th", wide));
    };
    return h("table", { class: "heat" }, [
      h("thead", {}, axis("axis", `↑ ${rows.title}`)),
      h("tbody", {}, body.reverse()),
      h("tfoot", {}, [
        h("tr", {}, h("td"), ticks),
        axis("axis end", `${columns.title} →`),
      ]),
    ]);
  }

  // A cell, blue where both values raise the score and orange where they lower it.
  box(a, b) {
    const height = this.heights[a][b];
    const tint = (MAX_TINT * Math.abs(height)) / (this.strongest || 1);
    const colour = height < 0 ? "--down" : "--accent";
    const isRare = this.shares[a][b] < HARDLY_ANY_DATA;
    const node = h("td", {
      class: isRare ? "rare" : "",
      text: signed(height, this.digits),
      title: `${this.words(a, b)}${isRare ? " (hardly any data)" : ""}`,
    });
    node.style.backgroundColor =
      `color-mix(in srgb, var(${colour}) ${tint.toFixed(1)}%, var(--card))`;
    return node;
  }

  // Both conditions of a cell.
  words(a, b) {
    const [first, second] = this.block.axes;
    return `${first.words[a]} and ${second.words[b]}`;
  }

  // Where the pair raises the label most, and where it lowers it most.
  says() {
    const cells = this.heights.flatMap((row, a) => row.map((height, b) => {
      return { height, words: this.words(a, b), share: this.shares[a][b] };
    }));
    const told = ({ words, height }) => `${words}: ${signed(height, this.digits)}`;
    const frequent = cells.filter(({ share }) => share >= HARDLY_ANY_DATA);
    frequent.sort((one, other) => other.height - one.height);
    const [most, least] = [frequent[0], frequent[frequent.length - 1]];
    return [
      most?.height > 0 && `Raised most by ${told(most)}.`,
      least?.height < 0 && `Lowered most by ${told(least)}.`,
    ].filter(Boolean).join(" ");
  }

  // Mark the cell of the sample, and say what its own values add.
  show(x, now) {
    const { maps, p, j } = this;
    const cell = maps.ownCell(p, now);
    const amount = maps.system.pairEffects(j, now)[p];
    const box = cell && this.boxes[cell[0]][cell[1]];
    if (this.marked !== box) {
      this.marked?.classList.remove("own");
      this.marked?.removeAttribute("aria-current");
      box?.classList.add("own");
      box?.setAttribute("aria-current", "true");
      this.marked = box;
    }
    const words = `${maps.said(p, x)} ${this.adds(cell, amount)}`;
    this.own.textContent = `This sample: ${words}.`;
  }

  // What the sample adds, which its own cell tells if it lies in the middle of it.
  adds(cell, amount) {
    if (!cell) return "adds nothing";
    const height = this.heights[cell[0]][cell[1]];
    const isBetween = Math.abs(amount - height) > CLEAR_STEP * this.reach;
    const where = isBetween ? "(between cells) " : "";
    return `${where}adds ${signed(amount, this.digits)}`;
  }
}

// With how many digits after the point heights are told: two of the largest count.
function digitsOf(largest) {
  if (!(largest > 0) || largest >= 0.1) return 2;
  return Math.min(1 - Math.floor(Math.log10(largest)), 12);
}
