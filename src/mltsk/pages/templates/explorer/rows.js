// Samples to start from: rows of the data, then made ones (a usual one, and the centre
// of each exception). Sample i is row i where i < n, and made sample i - n otherwise.

class Samples {
  constructor(data) {
    const { rows, made } = data;
    Object.assign(this, { rows, made, D: data.shape[1], labels: data.labels });
    this.values = unpack(made.values, Float64Array);
    this.numbers = readNumbers(rows);
    this.n = this.numbers.length;
    this.count = this.n + made.names.length;
    this.had = rows?.truth && unpack(rows.truth, Uint8Array);
    this.seen = rows?.observed && unpack(rows.observed, Uint8Array);
    if (rows?.cells.columns) this.table = readColumns(rows.cells.columns, this.n);
    else if (rows) this.csr = readSparse(rows.cells);
  }

  // Write sample i into x.
  fill(i, x) {
    const { n, D } = this;
    if (i >= n) {
      x.set(this.values.subarray((i - n) * D, (i - n + 1) * D));
    } else if (this.table) {
      x.set(this.table.subarray(i * D, (i + 1) * D));
    } else {
      x.fill(0);
      this.each(i, (d, value) => {
        x[d] = value;
      });
    }
  }

  // Call see(column, value) for each cell of sparse row i that is not zero.
  each(i, see) {
    const { ends, at, values } = this.csr;
    for (let cell = ends[i]; cell < ends[i + 1]; cell++) {
      see(at[cell], values[cell]);
    }
  }

  // True labels of sample i and those that were not observed; null where none is known.
  truth(i) {
    if (!this.had || i >= this.n) return null;
    const labels = [...this.labels.keys()];
    const marked = (bits, value) => {
      const from = i * labels.length;
      return new Set(labels.filter((j) => bitOf(bits, from + j) === value));
    };
    const unknown = this.seen ? marked(this.seen, 0) : new Set();
    return { true: marked(this.had, 1), unknown };
  }

  // What a sample is called: its identifier, its number, or what it was made for.
  name(i) {
    if (i >= this.n) return this.made.names[i - this.n];
    return this.rows.ids?.[i] ?? `row ${this.numbers[i] + 1}`;
  }

  // What a sample is called in an address: the number of its row, or of a made one.
  key(i) {
    return i < this.n ? String(this.numbers[i] + 1) : `made-${i - this.n + 1}`;
  }

  // The sample of a key, or -1.
  ofKey(key) {
    const made = /^made-(\d+)$/.exec(key);
    if (made) {
      const i = this.n + Number(made[1]) - 1;
      return i >= this.n && i < this.count ? i : -1;
    }
    if (!/^\d{1,9}$/.test(key)) return -1;
    return this.numbers.indexOf(Number(key) - 1);
  }

  // The true labels of a sample in words, nothing where they are not known.
  told(i) {
    const truth = this.truth(i);
    if (truth === null) return "";
    if (truth.true.size) {
      const names = [...truth.true].map((j) => this.labels[j]);
      return listed(names, 3);
    }
    if (truth.unknown.size === this.labels.length) return "labels not observed";
    return truth.unknown.size ? "none that was observed" : "no label";
  }

  // Rows that somebody may mean, the likeliest first: those of that identifier, of that
  // number, of identifiers that begin so, of identifiers that have it in them.
  find(text, most) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const number = this.ofKey(wanted.replace(/^row\s*/, ""));
    const isRow = number >= 0 && number < this.n;
    const ranked = [
      ...this.rowsNamed((name) => name === wanted),
      ...(isRow ? [number] : []),
      ...this.rowsNamed((name) => name.startsWith(wanted)),
      ...this.rowsNamed((name) => name.includes(wanted)),
    ];
    return [...new Set(ranked)].slice(0, most);
  }

  // Rows whose identifier, in small letters, is one to keep.
  rowsNamed(keep) {
    this.lowerNames ??= (this.rows?.ids ?? []).map((name) => name.toLowerCase());
    return [...this.lowerNames.keys()].filter((i) => keep(this.lowerNames[i]));
  }

  // The rows most like x (at places z) but for `skip`, nearest on the scale of the
  // rules.
  nearest(system, x, z, skip, count) {
    const distance = this.csr
      ? this.sparseDistance(system, x)
      : this.denseDistance(system, z);
    const distances = Float64Array.from(this.numbers, (_, i) => distance(i));
    const rows = [...this.numbers.keys()].filter((i) => i !== skip);
    rows.sort((a, b) => distances[a] - distances[b]);
    return rows.slice(0, count);
  }

  // Distance of row i from places z; what one of both lacks counts as the mean distance
  // of two rows.
  denseDistance(system, z) {
    const { D } = this;
    this.places ??= this.placesOfRows(system);
    return (i) => {
      let sum = 0;
      for (let d = 0; d < D; d++) {
        const step = z[d] - this.places[i * D + d];
        sum += Number.isNaN(step) ? 2 * system.share[d] : step * step;
      }
      return sum;
    };
  }

  // All rows on the scale of the rules.
  placesOfRows(system) {
    const { D, table } = this;
    const places = new Float64Array(table.length);
    for (let at = 0; at < table.length; at += D) {
      system.scale(table.subarray(at, at + D), places.subarray(at, at + D));
    }
    return places;
  }

  // Distance of sparse row i from x; between rows of unit length, that of directions.
  sparseDistance(system, x) {
    const own = x.reduce((sum, value) => sum + value * value, 0);
    return (i) => {
      let dot = 0;
      let other = 0;
      this.each(i, (d, value) => {
        dot += value * x[d];
        other += value * value;
      });
      if (system.scaleKind === "unit") return -dot / Math.sqrt(own * other || 1);
      return own + other - 2 * dot;
    };
  }
}

// Numbers of the rows that are in the page: of all of them, unless some were left out.
function readNumbers(rows) {
  if (rows?.index) return unpack(rows.index, Uint32Array);
  return Uint32Array.from(range(rows?.count ?? 0));
}

// Rows as CSR: those of row i are at[ends[i]..ends[i + 1]] and the same of values.
function readSparse(cells) {
  return {
    ends: unpack(cells.ends, Uint32Array),
    at: unpack(cells.at, Uint32Array),
    values: unpack(cells.values, Float64Array),
  };
}
