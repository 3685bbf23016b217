// Samples to start from: rows of the data, then such as were made (a usual one, the centre of each exception).

const KINDS = { u1: Uint8Array, "<i2": Int16Array, "<i4": Int32Array, "<f8": Float64Array };
const LEAST = { "<i2": -(2 ** 15), "<i4": -(2 ** 31) }; // stands for what is missing

class Samples {
  constructor(data) {
    const { rows, made } = data;
    Object.assign(this, { rows, made, D: data.shape[1], labels: data.labels });
    this.values = unpack(made.values, Float64Array);
    this.numbers = rows?.index ? unpack(rows.index, Uint32Array) : Uint32Array.from({ length: rows?.count ?? 0 }, (_, i) => i);
    this.n = this.numbers.length;
    this.count = this.n + made.names.length;
    [this.had, this.seen] = ["truth", "observed"].map((key) => rows?.[key] && unpack(rows[key], Uint8Array));
    if (rows?.cells.columns) this.table = this.readColumns(rows.cells.columns);
    else if (rows) {
      const [ends, at] = [rows.cells.ends, rows.cells.at].map((text) => unpack(text, Uint32Array));
      this.csr = { ends, at, values: unpack(rows.cells.values, Float64Array) };
    }
  }

  readColumns(columns) {
    const table = new Float64Array(this.n * this.D);
    columns.forEach(([kind, text, known, decimals], d) => {
      const [cells, values, unit] = [unpack(text, KINDS[kind]), known && unpack(known, Float64Array), Number(`1e${decimals}`)];
      const value = (cell) => (values ? values[cell] : cell === LEAST[kind] ? NaN : cell / unit);
      for (let i = 0; i < this.n; i++) table[i * this.D + d] = value(cells[i]);
    });
    return table;
  }

  fill(i, x) {
    if (i >= this.n) x.set(this.values.subarray((i - this.n) * this.D, (i - this.n + 1) * this.D));
    else if (this.table) x.set(this.table.subarray(i * this.D, (i + 1) * this.D));
    else {
      x.fill(0);
      this.each(i, (d, value) => { x[d] = value; });
    }
  }

  each(i, see) {
    for (let at = this.csr.ends[i]; at < this.csr.ends[i + 1]; at++) see(this.csr.at[at], this.csr.values[at]);
  }

  // True labels of sample i, and those that were not observed; null where nothing is known.
  truth(i) {
    if (!this.had || i >= this.n) return null;
    const L = this.labels.length;
    const bit = (bits, at) => (bits[at >> 3] >> (at & 7)) & 1;
    const marked = (bits, value) => new Set([...this.labels.keys()].filter((j) => bit(bits, i * L + j) === value));
    return { true: marked(this.had, 1), unknown: this.seen ? marked(this.seen, 0) : new Set() };
  }

  name(i) {
    return i < this.n ? this.rows.ids?.[i] ?? `row ${this.numbers[i] + 1}` : this.made.names[i - this.n];
  }

  // What a sample is called in an address: the number of its row, or of a made one.
  key(i) {
    return i < this.n ? String(this.numbers[i] + 1) : `made-${i - this.n + 1}`;
  }

  ofKey(key) {
    const made = /^made-(\d+)$/.exec(key);
    if (made) return this.n + Number(made[1]) - 1 < this.count && Number(made[1]) > 0 ? this.n + Number(made[1]) - 1 : -1;
    return this.numbers.indexOf(/^\d{1,9}$/.test(key) ? Number(key) - 1 : -1);
  }

  told(i) {
    const had = this.truth(i);
    if (had === null) return "";
    if (had.true.size) return listed([...had.true].map((j) => this.labels[j]), 3);
    return had.unknown.size === this.labels.length ? "labels not observed" : "no label";
  }

  // Rows that somebody may mean: that identifier, that number, identifiers that begin so, or have it in them.
  find(text, most) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const names = this.lower ??= (this.rows?.ids ?? []).map((name) => name.toLowerCase());
    const all = (keep) => names.map((name, i) => (keep(name) ? i : -1)).filter((i) => i >= 0);
    const number = this.ofKey(wanted.replace(/^row\s*/, ""));
    const ranked = [...all((name) => name === wanted), ...(number >= 0 && number < this.n ? [number] : []),
      ...all((name) => name.startsWith(wanted)), ...all((name) => name.includes(wanted))];
    return [...new Set(ranked)].slice(0, most);
  }

  // The rows most like x, one left out: nearest on the scale of the rules. What one of both lacks counts as any two
  // rows are apart.
  nearest(system, x, z, skip, count) {
    const apart = this.csr ? this.sparseDistance(system, x) : this.denseDistance(system, z);
    const rows = [...this.numbers.keys()].filter((i) => i !== skip);
    const far = Float64Array.from(this.numbers, (_, i) => apart(i));
    return rows.sort((a, b) => far[a] - far[b]).slice(0, count);
  }

  denseDistance(system, z) {
    const { D, table } = this;
    if (!this.places) {
      this.places = new Float64Array(table.length);
      for (let at = 0; at < table.length; at += D) system.scale(table.subarray(at, at + D), this.places.subarray(at, at + D));
    }
    return (i) => {
      let sum = 0;
      for (let d = 0; d < D; d++) {
        const step = z[d] - this.places[i * D + d];
        sum += Number.isNaN(step) ? 2 * system.share[d] : step * step;
      }
      return sum;
    };
  }

  sparseDistance(system, x) {
    const own = x.reduce((sum, value) => sum + value * value, 0);
    return (i) => {
      let [dot, other] = [0, 0];
      this.each(i, (d, value) => { dot += value * x[d]; other += value * value; });
      return system.scaleKind === "unit" ? -dot / Math.sqrt(own * other || 1) : own + other - 2 * dot;
    };
  }
}
