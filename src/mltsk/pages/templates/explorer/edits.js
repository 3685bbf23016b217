// A model under edits: all numbers found again from sums over rows, and what that
// costs. Nothing of the page is in here.
//
// An edit is { feature, labels, action, value, effect, author, reason, time }: numbers
// of a feature and of labels, and an action "rises", "falls", "off", "point" or "free".
// What actions mean is in `mltsk/edits.py`, which reads what is exported here.
//
// Symbols: Q columns of the ridge problem, P terms, L labels.

const MAX_ROUNDS_OF_PAIRS = 200; // of adding slopes that are missed
const LEAST_PROGRESS = 1e-9; // of a distance from round to round, as a share
const LEAST_FREE_SHARE = 1e-3; // of the rows, beside what the numbers of a model use
const NO_WISH = { direction: null, isOff: false, points: new Map() };
const EDITS_FORMAT = "mltsk-edits";
const EDITS_VERSION = 1;

// What is asked of a curve after one more edit.
function afterEdit(wish, { action, value, effect }) {
  if (action === "off") return { ...NO_WISH, isOff: true };
  if (action === "free") return NO_WISH;
  if (action === "point") {
    const points = new Map([...wish.points, [value, effect]]);
    return { ...wish, isOff: false, points };
  }
  return { ...wish, isOff: false, direction: action };
}

// What edits ask of each curve, by feature and label: a map of maps.
function wishesOf(edits) {
  const wishes = new Map();
  for (const edit of edits) {
    if (!wishes.has(edit.feature)) wishes.set(edit.feature, new Map());
    const own = wishes.get(edit.feature);
    for (const label of edit.labels) {
      own.set(label, afterEdit(own.get(label) ?? NO_WISH, edit));
    }
  }
  return wishes;
}

// Whether something is asked of a curve.
function isAsked({ direction, isOff, points }) {
  return isOff || direction !== null || points.size > 0;
}

// A text that differs where other wishes are about label j.
function keyOf(wishes, j) {
  const texts = [...wishes].map(([feature, own]) => {
    const { direction, isOff, points } = own.get(j) ?? NO_WISH;
    return [feature, direction, isOff, ...points].join();
  });
  return texts.join(";");
}

// Rows of demands, which come without the columns that are 0 in all of them.
function readRows({ columns, rows, least, equal }) {
  const numbers = unpackFloats(rows);
  return least.map((own, i) => ({
    columns,
    row: numbers.subarray(i * columns.length, (i + 1) * columns.length),
    least: own,
    isEqual: equal[i],
  }));
}

// Sums over the rows in which some labels were observed.
function readPart({ labels, H, B, phi, y, total }) {
  const part = { labels, total, B: unpackFloats(B), phi: unpackFloats(phi) };
  const upper = unpackFloats(H);
  const Q = part.phi.length;
  const whole = new Float64Array(Q * Q);
  for (let i = 0, at = 0; i < Q; i++) {
    for (let j = i; j < Q; j++, at++) {
      whole[i * Q + j] = upper[at];
      whole[j * Q + i] = upper[at];
    }
  }
  return { ...part, y: unpackFloats(y), H: whole };
}

class EditableModel {
  constructor(data) {
    const { edits } = data;
    [this.K, this.D, this.L, this.P] = data.shape;
    this.data = data;
    this.ridge = edits.ridge;
    this.parts = edits.parts.map(readPart);
    this.Q = this.parts[0].phi.length;
    this.slopes = unpackFloats(edits.slopes);
    this.offsets = unpackFloats(edits.offsets);
    this.losses = unpackFloats(edits.losses); // of the model before its edits
    this.weights = unpackFloats(edits.weights);
    this.heights = edits.heights && unpackSparse(edits.heights, this.P ** 2);
    this.means = unpackFloats(data.terms.mean);
    this.pairColumns = unpack(edits.pairColumns, Uint32Array);
    const nRules = this.pairColumns.length;
    this.pairCoef = unpackSparse(data.pairs.coef, nRules * this.L);
    this.curves = edits.curves.map((curve) => this.readCurve(curve));
    this.earlier = edits.earlier.map((demand) => {
      return { ...demand, row: unpackFloats(demand.row) };
    });
    this.wished = edits.wished; // per label, features whose pairs wishes took already
    this.directed = edits.directed; // per label, directions of features already
    this.solved = new Map(); // parts without wishes, by number and columns
    this.rows = null; // LeftOutRows that edits are judged by, if the page has them
  }

  // What edits of a feature demand.
  readCurve({ off, rises, falls, handles, slopes }) {
    return {
      slopes: slopes ? new PairSlopes(slopes) : null,
      off: readRows(off),
      rises: rises ? readRows(rises) : null,
      falls: falls ? readRows(falls) : null,
      handles: handles.map((handle) => {
        return { value: handle.value, demands: readRows(handle) };
      }),
    };
  }

  // The base rate of label j, and how large the squared loss of saying it always is.
  baseLoss(j) {
    const part = this.parts.find(({ labels }) => labels.includes(j));
    const rate = part.y[part.labels.indexOf(j)] / part.total;
    return rate * (1 - rate);
  }

  // The model after some edits: its numbers, the loss of each label, and leave-one-out
  // log-odds where there are rows. Contradiction where no numbers do all of that.
  after(edits) {
    const wishes = wishesOf(edits);
    const pairsOf = range(this.L).map((j) => this.keptPairs(wishes, j));
    const pairs = [...new Set(pairsOf.flat())].sort((a, b) => a - b);
    const columns = this.keptColumns(pairs);
    const places = new Map(columns.map((column, place) => [column, place]));
    const demands = this.demandsOf(wishes);
    const numbers = {
      pairs,
      intercept: new Float64Array(this.L),
      terms: new Float64Array(this.P * this.L),
      ofPairs: new Float64Array((columns.length - this.P) * this.L),
      losses: new Float64Array(this.L),
      logOdds: [],
    };
    const solved = new Map();
    this.parts.forEach(({ labels }, number) => {
      labels.forEach((j, i) => {
        const part = this.freePart(number, this.keptColumns(pairsOf[j]), solved);
        const steep = this.steepFeatures(wishes, j);
        const held = this.heldAgain(part, i, demands[j], steep, keyOf(wishes, j));
        this.write(numbers, j, part, held.b, places);
        numbers.losses[j] = held.loss;
        numbers.logOdds[j] = held.logOdds;
      });
    });
    this.solved = solved; // each holds as much as the sums, so others are forgotten
    return numbers;
  }

  // Numbers of a label and their loss, found again only where its wishes changed.
  heldAgain(part, i, demands, steep, key) {
    if (part.held[i]?.key !== key) {
      const held = this.heldSteep(part, part.B[i], demands, steep);
      const loss = this.loss(part, i, held);
      part.held[i] = { key, b: held.b, loss, logOdds: this.leftOutLogOdds(part, i, held) };
    }
    return part.held[i];
  }

  // Leave-one-out log-odds of rows for label number i of a part, if there are rows.
  leftOutLogOdds(part, i, held) {
    if (!this.rows) return null;
    const [slope, offset] = [this.slopes[part.labels[i]], this.offsets[part.labels[i]]];
    return this.rows.scores(part, i, held).map((score) => score * slope + offset);
  }

  // Pairs of features that are left to label j, by their places in the page: no wish
  // other than a direction is about them.
  keptPairs(wishes, j) {
    const asked = new Set(this.wished[j]);
    for (const [feature, own] of wishes) {
      const { isOff, points } = own.get(j) ?? NO_WISH;
      if (isOff || points.size) asked.add(feature);
    }
    const { blocks } = this.data.pairs;
    return range(blocks.length).filter((p) => {
      return !blocks[p].features.some((feature) => asked.has(feature));
    });
  }

  // Slopes of features that have a direction for label j and act together with others.
  steepFeatures(wishes, j) {
    const directions = [...this.directed[j]];
    for (const [feature, own] of wishes) {
      const { direction } = own.get(j) ?? NO_WISH;
      if (direction) directions.push([feature, direction]);
    }
    return directions.flatMap(([feature, direction]) => {
      const { slopes } = this.curves[feature];
      return slopes ? [{ slopes, sign: direction === "rises" ? 1 : -1 }] : [];
    });
  }

  // Rules of some pairs, by their places in the page.
  rulesOf(pairs) {
    const { blocks } = this.data.pairs;
    const starts = [0];
    for (const { count } of blocks) {
      starts.push(starts[starts.length - 1] + count);
    }
    return pairs.flatMap((p) => range(blocks[p].count).map((i) => starts[p] + i));
  }

  // Columns that are left, in their order among all.
  keptColumns(pairs) {
    const own = this.rulesOf(pairs).map((r) => this.P + this.pairColumns[r]);
    return [...range(this.P), ...own.sort((a, b) => a - b)];
  }

  // The demands on the numbers of each label.
  demandsOf(wishes) {
    const demands = range(this.L).map((j) => {
      return this.earlier.filter(({ label }) => label === j);
    });
    for (const [feature, own] of wishes) {
      for (const [j, wish] of own) {
        demands[j].push(...this.demandsOfCurve(feature, j, wish));
      }
    }
    return demands;
  }

  // What a wish about the curve of a feature asks of the numbers of label j.
  demandsOfCurve(feature, j, { direction, isOff, points }) {
    const curve = this.curves[feature];
    const demands = [];
    if (isOff) demands.push(...curve.off);
    if (direction) demands.push(...curve[direction]);
    for (const [value, effect] of points) {
      const handle = curve.handles.find((own) => own.value === value);
      for (const demand of handle.demands) {
        const least = (demand.least * effect) / this.slopes[j];
        demands.push({ ...demand, least });
      }
    }
    return demands;
  }

  // The solution without wishes of one part of the sums for some columns. It is found
  // once, and kept among those that are `solved`.
  freePart(number, columns, solved) {
    const key = `${number}: ${columns.join()}`;
    if (!solved.has(key)) {
      const own = this.solved.get(key) ?? this.solvedPart(this.parts[number], columns);
      solved.set(key, own);
    }
    return solved.get(key);
  }

  solvedPart({ labels, total, H, B, phi, y }, columns) {
    const n = columns.length;
    const mean = Float64Array.from(columns, (column) => phi[column] / total);
    const A = new Float64Array(n * n);
    columns.forEach((row, i) => {
      columns.forEach((column, j) => {
        A[i * n + j] = H[row * this.Q + column] - mean[i] * phi[column];
      });
    });
    const centred = A.slice();
    for (let i = 0; i < n; i++) {
      A[i * n + i] += this.ridge;
    }
    const factor = new CholeskyFactor(A, n);
    const right = labels.map((_, l) => Float64Array.from(columns, (column, i) => {
      return B[column * labels.length + l] - mean[i] * y[l];
    }));
    return {
      labels,
      columns,
      total,
      y,
      mean,
      centred,
      factor,
      right,
      B: right.map((own) => factor.solve(own)),
      held: [], // numbers under wishes, by label
      halves: new Map(), // rows of demands -> their halves
      used: n - this.ridge * factor.inverseTrace() + 1, // numbers that are free
    };
  }

  // Numbers of a label under demands and directions: slopes that are missed with the
  // others at their worst values are demanded, until none is. Slopes that hold nothing
  // are forgotten as long as numbers move farther from round to round; those that are
  // asked for already are missed by rounding.
  heldSteep(part, b, demands, steep) {
    const places = new Map(part.columns.map((column, place) => [column, place]));
    let slopes = [];
    let distance = 0;
    for (let round = 0; round < MAX_ROUNDS_OF_PAIRS; round++) {
      const held = this.held(part, b, [...demands, ...slopes]);
      if (held.distance > distance * (1 + LEAST_PROGRESS)) {
        slopes = slopes.filter((_, k) => held.pulls[demands.length + k] !== 0);
      }
      distance = held.distance;
      const known = new Set(slopes.map(({ key }) => key));
      const missed = steep.flatMap((one, i) => {
        const own = one.slopes.missed(held.b, places, one.sign);
        return own.map((slope) => ({ ...slope, key: `${i} ${slope.key}` }));
      });
      const added = missed.filter(({ key }) => !known.has(key));
      if (!added.length) return held;
      // each is asked for in this edit alone, so its half is not kept
      slopes.push(...added.map((slope) => ({ ...slope, half: this.newHalf(part, slope) })));
    }
    throw new Contradiction();
  }

  // Numbers b of a label under demands, and the directions that hold them.
  held(part, b, demands) {
    if (!demands.length) return { b, basis: [], pulls: [], distance: 0 };
    const missing = demands.map(({ columns, row, least }) => {
      return least - sumOf(columns.map((column, i) => row[i] * b[column]));
    });
    const isEqual = demands.map((demand) => demand.isEqual);
    const halves = demands.map((demand) => demand.half ?? this.halfOf(part, demand));
    const change = new LeastChange(halves, missing, isEqual);
    const pull = new Float64Array(b.length);
    demands.forEach(({ columns, row }, k) => {
      columns.forEach((column, i) => {
        pull[column] += change.pulls[k] * row[i];
      });
    });
    const moved = Float64Array.from(b);
    addTo(moved, 1, part.factor.solve(pull));
    const most = moved.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0);
    for (const column of demands.flatMap((demand) => demand.columns)) {
      const isNothing = Math.abs(moved[column]) <= SHARE_OF_ROUNDING * most;
      if (isNothing) moved[column] = 0; // not 1e-17, which words would tell
    }
    const distance = change.scale ** 2 * dot(change.u, change.u);
    return { b: moved, basis: change.basis.vectors, pulls: change.pulls, distance };
  }

  // The half of a row of a demand, kept: labels and later edits ask for it again.
  halfOf(part, demand) {
    const { halves } = part;
    if (!halves.has(demand.row)) halves.set(demand.row, this.newHalf(part, demand));
    return halves.get(demand.row);
  }

  newHalf({ factor }, { columns, row }) {
    const whole = new Float64Array(factor.n);
    columns.forEach((column, i) => {
      whole[column] = row[i];
    });
    return factor.half(whole);
  }

  // Write the numbers of label j as the model has them, in log-odds. ``places`` are those
  // of columns among all that some label has.
  write(numbers, j, { labels, columns, total, y, mean }, b, places) {
    const slope = this.slopes[j];
    const weighted = b.map((value, i) => value * this.weights[Math.min(i, this.P)]);
    const terms = this.ofTerms(weighted.subarray(0, this.P));
    const rate = y[labels.indexOf(j)] / total;
    const start = rate - dot(mean, b) + dot(this.means, terms);
    numbers.intercept[j] = start * slope + this.offsets[j];
    terms.forEach((value, p) => {
      numbers.terms[p * this.L + j] = value * slope;
    });
    weighted.subarray(this.P).forEach((value, r) => {
      const place = places.get(columns[this.P + r]) - this.P;
      numbers.ofPairs[place * this.L + j] = value * slope;
    });
  }

  // Numbers of terms from those of their columns.
  ofTerms(weighted) {
    if (!this.heights) return weighted;
    return weighted.map((_, p) => {
      return dot(this.heights.subarray(p * this.P, (p + 1) * this.P), weighted);
    });
  }

  // Squared loss per row of a label by generalised cross-validation.
  loss(part, l, { b, basis }) {
    const { total, y, right, centred, factor } = part;
    const n = b.length;
    let squares = y[l] * (1 - y[l] / total) - 2 * dot(right[l], b);
    for (let i = 0; i < n; i++) {
      squares += b[i] * dot(centred.subarray(i * n, (i + 1) * n), b);
    }
    const heldUses = basis.map((vector) => {
      const half = factor.otherHalf(vector);
      return 1 - this.ridge * dot(half, half);
    });
    const used = part.used - sumOf(heldUses);
    const share = Math.max(1 - used / total, LEAST_FREE_SHARE);
    return Math.max(squares, 0) / total / share ** 2;
  }

  // Where the numbers of rules of some pairs are among those that were found.
  placesOf(pairs) {
    const rules = this.rulesOf(pairs);
    rules.sort((a, b) => this.pairColumns[a] - this.pairColumns[b]);
    return new Map(rules.map((r, place) => [r, place]));
  }

  // What differs in the data of the page for edited numbers: there are no exceptions,
  // and fewer pairs.
  overlay({ pairs, intercept, terms, ofPairs }) {
    const none = new Float64Array(0);
    const own = this.data.pairs;
    const rules = this.rulesOf(pairs);
    const places = this.placesOf(pairs);
    const coef = new Float64Array(rules.length * this.L);
    rules.forEach((r, i) => {
      const from = places.get(r) * this.L;
      coef.set(ofPairs.subarray(from, from + this.L), i * this.L);
    });
    const take = (text) => {
      const all = unpack(text, Uint32Array);
      return Uint32Array.from(rules, (r) => all[r]);
    };
    return {
      shape: [0, this.D, this.L, this.P],
      firing: "plain",
      order: 0,
      intercept,
      terms: { ...this.data.terms, coef: terms },
      pairs: {
        ...own,
        first: take(own.first),
        second: take(own.second),
        coef,
        blocks: pairs.map((p) => own.blocks[p]),
      },
      coef: none,
      widths: none,
      weights: none,
      centers: none,
      prototypes: none,
      rules: [],
      general: null, // is told by its numbers
    };
  }

  // What of the model is not in an edited one, in words.
  leftOut(numbers) {
    const gone = this.K ? [times(this.K, "exception")] : [];
    const places = this.placesOf(numbers.pairs);
    const counts = new Map(); // labels -> how many pairs they have no longer
    for (const p of range(this.data.pairs.blocks.length)) {
      const labels = range(this.L).filter((j) => {
        const rules = this.rulesOf([p]);
        const had = rules.some((r) => this.pairCoef[r * this.L + j] !== 0);
        return had && rules.every((r) => {
          return !places.has(r) || numbers.ofPairs[places.get(r) * this.L + j] === 0;
        });
      });
      const names = labels.map((j) => this.data.edits.labelNames[j]);
      const key = labels.length === this.L ? "" : ` for ${listed(names, 5)}`;
      if (labels.length) counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    for (const [labels, count] of counts) {
      gone.push(`${count === 1 ? "1 pair" : `${count} pairs`} of features${labels}`);
    }
    return gone.join("; ");
  }

  // What `mltsk.edited` reads: the edits by name, and the numbers that they gave.
  exported(edits) {
    const { model, names, labelNames } = this.data.edits;
    const numbers = this.after(edits);
    return {
      format: EDITS_FORMAT,
      version: EDITS_VERSION,
      model,
      edits: edits.map(({ feature, labels, action, value, effect, ...who }) => ({
        feature: names[feature],
        labels: labels.map((j) => labelNames[j]),
        action,
        ...(action === "point" ? { value, effect } : {}),
        ...who,
      })),
      numbers: {
        intercept: [...numbers.intercept],
        terms: [...numbers.terms],
        pairs: [...numbers.ofPairs],
      },
    };
  }
}
