// Which labels go together: a table of correlations, drawn.

const HUES = { up: [31, 111, 181], down: [200, 81, 31] };

// A table of correlations as coloured squares, with a frame around the row of the selected label. Squares are
// written as pixels of an image, once: 160 labels have 25,600 of them.
function drawMap(canvas, values, L, selected, dark) {
  const size = Math.max(4, Math.floor(560 / L));
  const pen = canvas.getContext("2d");
  const kind = dark ? "dark" : "light";
  values[kind] ??= mapImage(values, L, size, dark);
  canvas.width = canvas.height = size * L;
  pen.putImageData(values[kind], 0, 0);
  pen.strokeStyle = dark ? "#e9ebee" : "#1d2129";
  pen.lineWidth = 2;
  pen.strokeRect(1, selected * size + 1, size * L - 2, size - 2);
}

function mapImage(values, L, size, dark) {
  const gap = size > 8 ? 1 : 0;
  const width = size * L;
  const image = new ImageData(width, width);
  const pixels = new Uint32Array(image.data.buffer);
  const palette = shades(dark);
  for (let y = 0; y < width; y++) {
    const row = Math.floor(y / size) * L;
    if (y % size >= size - gap) continue;
    for (let x = 0; x < width; x++) {
      if (x % size < size - gap) pixels[y * width + x] = palette[values[row + Math.floor(x / size)] + 127];
    }
  }
  return image;
}

// Colours of -127..127 as pixels.
function shades(dark) {
  const ground = dark ? [27, 32, 39] : [246, 245, 242];
  return Uint32Array.from({ length: 255 }, (_, i) => {
    const r = (i - 127) / 127;
    const hue = r < 0 ? HUES.down : HUES.up;
    const [red, green, blue] = ground.map((c, n) => Math.round(c + (hue[n] - c) * Math.abs(r) ** 0.75));
    return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
  });
}

const MOST_NAMES = 30; // that fit beside the map

// How labels go together: in the data, where these are known, and in the rules.
class LabelMap {
  constructor(data, onlabel) {
    this.names = data.labels;
    this.tables = Object.fromEntries(
      Object.entries(data.correlation).map(([kind, text]) => [kind, unpack(text, Int8Array)]));
    this.kind = this.tables.labels ? "labels" : "consequents";
    if (this.names.length <= MOST_NAMES) $("map-names").append(...this.names.map((name) => h("span", { text: name, title: name })));
    this.listen(onlabel);
  }

  listen(onlabel) {
    const [canvas, tip] = [$("map"), $("map-tip")];
    const cell = (event) => {
      const box = canvas.getBoundingClientRect();
      const at = (value, size) => Math.min(this.names.length - 1, Math.max(0, Math.floor((value / size) * this.names.length)));
      return [at(event.clientY - box.top, box.height), at(event.clientX - box.left, box.width)];
    };
    canvas.addEventListener("mousemove", (event) => {
      const [i, j] = cell(event);
      tip.textContent = `${this.names[i]} and ${this.names[j]}: ${signed(this.at(i, j), 2)}`;
    });
    canvas.addEventListener("mouseleave", () => { tip.textContent = ""; });
    canvas.addEventListener("click", (event) => onlabel(cell(event)[0]));
  }

  at(i, j) {
    return this.tables[this.kind][i * this.names.length + j] / 127;
  }

  show(selected, dark) {
    drawMap($("map"), this.tables[this.kind], this.names.length, selected, dark);
    const others = this.names.map((_, j) => j).filter((j) => j !== selected);
    const ranked = others.sort((a, b) => this.at(selected, b) - this.at(selected, a));
    const row = (j) => h("li", {}, h("span", { class: "label-name", text: this.names[j] }),
      h("span", { class: "amount", text: signed(this.at(selected, j), 2) }));
    $("map-label").textContent = this.names[selected];
    $("map-with").replaceChildren(...ranked.filter((j) => this.at(selected, j) > 0.005).slice(0, 5).map(row));
    $("map-against").replaceChildren(
      ...ranked.filter((j) => this.at(selected, j) < -0.005).slice(-5).reverse().map(row));
  }
}
