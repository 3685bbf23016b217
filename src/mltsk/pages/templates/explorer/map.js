// Which labels go together: a table of correlations, drawn, and lists of the strongest.

const MAP_HUES = { up: [31, 111, 181], down: [200, 81, 31] };
const MAP_SIZE = 560; // pixels
const MIN_SQUARE = 4; // pixels
const MAX_MAP_NAMES = 30; // that fit beside the map
const MAX_PAIRS = 5;
const LEAST_CORRELATION = 0.005; // what is less is shown as 0.00

// A table of correlations as coloured squares, with a frame around the row of the
// chosen label. The image is made once: 160 labels have 25,600 squares.
function drawMap(canvas, values, L, chosen, isDark) {
  const size = Math.max(MIN_SQUARE, Math.floor(MAP_SIZE / L));
  const pen = canvas.getContext("2d");
  const theme = isDark ? "dark" : "light";
  values[theme] ??= mapImage(values, L, size, isDark);
  canvas.width = size * L;
  canvas.height = size * L;
  pen.putImageData(values[theme], 0, 0);
  pen.strokeStyle = isDark ? "#e9ebee" : "#1d2129";
  pen.lineWidth = 2;
  pen.strokeRect(1, chosen * size + 1, size * L - 2, size - 2);
}

// The squares, with gaps between those that are large enough.
function mapImage(values, L, size, isDark) {
  const filled = size > 8 ? size - 1 : size;
  const width = size * L;
  const image = new ImageData(width, width);
  const pixels = new Uint32Array(image.data.buffer);
  const palette = shades(isDark);
  for (let y = 0; y < width; y++) {
    if (y % size >= filled) continue;
    const row = Math.floor(y / size) * L;
    for (let x = 0; x < width; x++) {
      if (x % size >= filled) continue;
      pixels[y * width + x] = palette[values[row + Math.floor(x / size)] + 127];
    }
  }
  return image;
}

// Colours of -127..127 as pixels.
function shades(isDark) {
  const ground = isDark ? [27, 32, 39] : [246, 245, 242];
  return Uint32Array.from(range(255), (i) => {
    const correlation = (i - 127) / 127;
    const hue = correlation < 0 ? MAP_HUES.down : MAP_HUES.up;
    const strength = Math.abs(correlation) ** 0.75;
    const [red, green, blue] = ground.map((colour, n) => {
      return Math.round(colour + (hue[n] - colour) * strength);
    });
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

// How labels go together: in the data, where these are known, and in the rules.
class LabelMap {
  constructor(data, onlabel) {
    this.names = data.labels;
    this.tables = {};
    for (const [kind, text] of Object.entries(data.correlation)) {
      this.tables[kind] = unpack(text, Int8Array);
    }
    this.kind = this.tables.labels ? "labels" : "consequents";
    if (this.names.length <= MAX_MAP_NAMES) this.showNames();
    this.listen(onlabel);
  }

  // Names beside the map.
  showNames() {
    const names = this.names.map((name) => h("span", { text: name, title: name }));
    $("map-names").append(...names);
  }

  // Tell the correlation under the mouse; a click chooses the label of the row.
  listen(onlabel) {
    const canvas = $("map");
    const tip = $("map-tip");
    canvas.addEventListener("mousemove", (event) => {
      const [i, j] = this.cellAt(event);
      const correlation = signed(this.at(i, j), 2);
      tip.textContent = `${this.names[i]} and ${this.names[j]}: ${correlation}`;
    });
    canvas.addEventListener("mouseleave", () => {
      tip.textContent = "";
    });
    canvas.addEventListener("click", (event) => onlabel(this.cellAt(event)[0]));
  }

  // Row and column of the square under the mouse.
  cellAt(event) {
    const box = $("map").getBoundingClientRect();
    const L = this.names.length;
    const at = (way, whole) => clamped(Math.floor((way / whole) * L), 0, L - 1);
    const row = at(event.clientY - box.top, box.height);
    const column = at(event.clientX - box.left, box.width);
    return [row, column];
  }

  // Correlation of labels i and j.
  at(i, j) {
    return this.tables[this.kind][i * this.names.length + j] / 127;
  }

  // Draw the map, and list what goes with the chosen label and what against it.
  show(chosen, isDark) {
    const correlation = (j) => this.at(chosen, j);
    const others = [...this.names.keys()].filter((j) => j !== chosen);
    others.sort((a, b) => correlation(b) - correlation(a));
    const together = others.filter((j) => correlation(j) > LEAST_CORRELATION);
    const against = others.filter((j) => correlation(j) < -LEAST_CORRELATION);
    drawMap($("map"), this.tables[this.kind], this.names.length, chosen, isDark);
    $("map-label").textContent = this.names[chosen];
    this.list("map-with", chosen, together.slice(0, MAX_PAIRS));
    this.list("map-against", chosen, against.slice(-MAX_PAIRS).reverse());
  }

  // List correlations of the chosen label with some others; none needs no heading.
  list(id, chosen, others) {
    const rows = others.map((j) => {
      const correlation = signed(this.at(chosen, j), 2);
      return h("li", {}, [
        h("span", { class: "label-name", text: this.names[j] }),
        h("span", { class: "amount", text: correlation }),
      ]);
    });
    $(id).replaceChildren(...rows);
    $(`${id}-title`).hidden = !rows.length;
  }
}
