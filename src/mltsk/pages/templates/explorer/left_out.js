// How good an edited model is for rows that it has not seen: the rows of the page, each
// scored as if it (its group) had not been there. Nothing of the page is in here.
//
// The numbers of a label are held by some demands, and leaving a row out leaves these
// where they are (`fit/corrected.py` does the same): with h the leverage of a row and r
// its residual, the residual without it is r / (1 - h).
//
// Symbols: n rows, Q columns of the ridge problem, L labels.

const MIN_KEPT_SHARE = 1e-10; // least 1 - h: that of a row that nothing else speaks for
const MIN_OTHERS = 1e-6; // share of the rows that a group leaves to the others

class LeftOutRows {
  // `samples` are those of the page, `model` is an EditableModel.
  constructor({ before, shifts, groups }, samples, model, system) {
    this.n = samples.n;
    this.L = system.L;
    this.system = system;
    this.groups = groups && groupsOf(unpack(groups, Uint32Array));
    this.shifts = unpackFloats(shifts); // of scores, as terms were chosen by these rows
    this.columns = range(this.n).map((i) => rowOfColumns(i, samples, model, system));
    const truths = range(this.n).map((i) => samples.truth(i));
    this.labels = range(this.L).map((j) => {
      const seen = range(this.n).filter((i) => !truths[i].unknown.has(j));
      return { seen, had: truths.map((truth) => truth.true.has(j)) };
    });
    const logOdds = unpackFloats(before);
    this.before = this.judged(range(this.L).map((j) => {
      return Float64Array.from(range(this.n), (i) => logOdds[i * this.L + j]);
    }));
  }

  // How good leave-one-out log-odds (a vector per label) are for each label: AP, AUC,
  // how many cases are found at the threshold, and how many others.
  judged(logOdds) {
    const given = this.givenBy(logOdds);
    return this.labels.map(({ seen, had }, j) => {
      const cases = seen.filter((i) => had[i]);
      return {
        ...rankingOf(seen.map((i) => logOdds[j][i]), seen.map((i) => had[i])),
        cases: cases.length,
        others: seen.length - cases.length,
        found: cases.filter((i) => given(i, j)).length,
        alarms: seen.filter((i) => !had[i] && given(i, j)).length,
      };
    });
  }

  // Whether row i is given label j.
  givenBy(logOdds) {
    const { system } = this;
    if (!system.single) return (i, j) => logOdds[j][i] >= system.thresholds[j];
    const rows = range(this.n).map((i) => {
      return system.given(Float64Array.from(logOdds, (own) => own[i]));
    });
    return (i, j) => rows[i][j];
  }

  // Halves of the rows of the columns that a part keeps, found once.
  halvesOf(part) {
    part.rowHalves ??= this.columns.map((own) => {
      return part.factor.half(part.mean.map((mean, q) => own[part.columns[q]] - mean));
    });
    return part.rowHalves;
  }

  // Scores of all rows for label number l of a part, each row left out. `b` are its
  // numbers, `basis` the directions that hold them.
  scores(part, l, { b, basis }) {
    const j = part.labels[l];
    const { seen, had } = this.labels[j];
    const rate = part.y[l] / part.total;
    const halves = this.halvesOf(part);
    // the score of a centred row is its half times that of the numbers
    const along = part.factor.otherWay(b);
    const rows = new Map(seen.map((i) => {
      const parts = basis.map((vector) => dot(vector, halves[i]));
      const residual = Number(had[i]) - rate - dot(along, halves[i]);
      return [i, { half: halves[i], parts, residual }];
    }));
    const scores = new Float64Array(this.n);
    const groups = this.groups ?? seen.map((i) => [i]);
    for (const group of groups) {
      const own = group.filter((i) => rows.has(i));
      const left = leftOutResiduals(own.map((i) => rows.get(i)), part.total);
      const deviation = sumOf(own.map((i) => Number(had[i]) - rate));
      const others = Math.max(part.total - own.length, MIN_OTHERS * part.total);
      own.forEach((i, place) => {
        const shift = this.shifts ? this.shifts[i * this.L + j] : 0;
        scores[i] = Number(had[i]) - left[place] + deviation / others + shift;
      });
    }
    return scores;
  }
}

// Residuals of the rows of one group that are left out together.
function leftOutResiduals(rows, total) {
  const kept = (one, other) => {
    const own = one === other ? 1 : 0;
    return own - dot(one.half, other.half) + dot(one.parts, other.parts) - 1 / total;
  };
  if (rows.length === 1) {
    const [row] = rows;
    return [row.residual / Math.max(kept(row, row), MIN_KEPT_SHARE)];
  }
  const cells = rows.flatMap((row) => rows.map((other) => kept(row, other)));
  const A = Float64Array.from(cells);
  rows.forEach((_, i) => {
    A[i * rows.length + i] += MIN_KEPT_SHARE;
  });
  return new CholeskyFactor(A, rows.length).solve(rows.map(({ residual }) => residual));
}

// Rows of each group, from their numbers.
function groupsOf(numbers) {
  const groups = new Map();
  numbers.forEach((number, i) => {
    if (!groups.has(number)) groups.set(number, []);
    groups.get(number).push(i);
  });
  return [...groups.values()];
}

// Columns of the ridge problem of row i: those of terms, then those of pairs.
function rowOfColumns(i, samples, { P, Q, weights, heights }, system) {
  const x = new Float64Array(system.D);
  samples.fill(i, x);
  const z = system.scale(x, new Float64Array(system.D));
  const terms = new Float64Array(P);
  for (let d = 0; d < system.D; d++) {
    for (let p = system.starts[d]; p < system.starts[d + 1]; p++) {
      terms[p] = system.term(p, d, z[d]) + system.mean[p];
    }
  }
  const row = new Float64Array(Q);
  for (let q = 0; q < P; q++) {
    row[q] = weights[q] * (heights ? columnDot(heights, P, q, terms) : terms[q]);
  }
  return row;
}

// Column q of a square matrix of n columns times a vector.
function columnDot(A, n, q, x) {
  let sum = 0;
  for (let p = 0; p < n; p++) {
    sum += A[p * n + q] * x[p];
  }
  return sum;
}

// Average precision and AUC of scores of rows that have a label or not; null where
// there are no cases, or no others. Rows of the same score have the same place.
function rankingOf(scores, had) {
  const order = [...scores.keys()].sort((a, b) => scores[b] - scores[a]);
  const cases = had.filter(Boolean).length;
  const others = had.length - cases;
  let [found, alarms, AP, pairs] = [0, 0, 0, 0];
  for (let from = 0, to = 0; from < order.length; from = to) {
    let own = 0;
    for (; to < order.length && scores[order[to]] === scores[order[from]]; to++) {
      own += Number(had[order[to]]);
    }
    const ties = to - from - own;
    pairs += ties * found + (ties * own) / 2; // others below the cases so far
    found += own;
    alarms += ties;
    AP += own * (found / (found + alarms));
  }
  return {
    AP: cases ? AP / cases : null,
    AUC: cases && others ? pairs / (cases * others) : null,
  };
}
