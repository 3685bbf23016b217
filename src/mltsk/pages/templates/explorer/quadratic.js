// The numbers that meet linear demands and lie closest to the best ones: arithmetic on
// typed arrays, nothing of the page.
//
// The loss of a ridge problem around its least is (b - b0)' A (b - b0). With A = L L'
// and u = L' (b - b0), demands on b are demands on u, and what is wanted is the
// shortest u that meets them. It is found as Goldfarb and Idnani (1983) do: from the
// shortest u that meets the equations, one demand after the other is added that is not
// met, and those that would pull the wrong way are let go. In `fit/least_change.py` the
// same problem is solved in another way; both end at the one solution.
//
// Symbols: n numbers, k demands.

const LEAST_DEMAND = 1e-9; // length of what a demand adds to others, of 1
const MAX_BREACH = 1e-8; // of a demand of length 1, next to the largest one asked for
const MAX_STEPS = 2000;

// No numbers meet all demands.
class Contradiction extends Error {}

// Sum of products of two vectors.
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// Add a multiple of b to a, in place.
function addTo(a, factor, b) {
  for (let i = 0; i < a.length; i++) {
    a[i] += factor * b[i];
  }
}

// A symmetric matrix of n rows, factorised as L L'.
class CholeskyFactor {
  constructor(A, n) {
    const lower = range(n).map((i) => A.slice(i * n, i * n + i + 1));
    for (let i = 0; i < n; i++) {
      for (let j = 0; j <= i; j++) {
        const sum = lower[i][j] - partialDot(lower[i], lower[j], j);
        if (i > j) lower[i][j] = sum / lower[j][j];
        else if (sum > 0) lower[i][i] = Math.sqrt(sum);
        else throw new Error("the sums are those of no rows");
      }
    }
    Object.assign(this, { n, lower });
  }

  // The solution y of L y = b.
  half(b) {
    const y = Float64Array.from(b);
    for (let i = 0; i < this.n; i++) {
      y[i] = (y[i] - partialDot(this.lower[i], y, i)) / this.lower[i][i];
    }
    return y;
  }

  // The solution x of L' x = y.
  otherHalf(y) {
    const x = Float64Array.from(y);
    for (let i = this.n - 1; i >= 0; i--) {
      x[i] /= this.lower[i][i];
      for (let j = 0; j < i; j++) {
        x[j] -= this.lower[i][j] * x[i];
      }
    }
    return x;
  }

  // The product L' x.
  otherWay(x) {
    const y = new Float64Array(this.n);
    this.lower.forEach((row, i) => {
      for (let j = 0; j <= i; j++) {
        y[j] += row[j] * x[i];
      }
    });
    return y;
  }

  // The solution x of L L' x = b.
  solve(b) {
    return this.otherHalf(this.half(b));
  }

  // The trace of the inverse of L L': the sum of squares of the inverse of L.
  inverseTrace() {
    let trace = 0;
    const y = new Float64Array(this.n);
    for (let column = 0; column < this.n; column++) {
      y.fill(0);
      y[column] = 1;
      for (let i = column; i < this.n; i++) {
        const row = this.lower[i];
        let sum = y[i];
        for (let j = column; j < i; j++) {
          sum -= row[j] * y[j];
        }
        y[i] = sum / row[i];
        trace += y[i] * y[i];
      }
    }
    return trace;
  }
}

// Sum of products of the first entries of two vectors.
function partialDot(a, b, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

// Rows as an orthonormal basis times an upper triangle, of rows that say something new.
class Basis {
  constructor() {
    this.vectors = [];
    this.triangle = []; // column i: row i in terms of the vectors
  }

  // What of a row is new (`rest`, and its length), and the rest in terms of the vectors.
  // Done twice, because rounding leaves something of the old in what is new.
  split(row) {
    const rest = Float64Array.from(row);
    const parts = new Float64Array(this.vectors.length);
    for (let turn = 0; turn < 2; turn++) {
      this.vectors.forEach((vector, i) => {
        const part = dot(vector, rest);
        parts[i] += part;
        addTo(rest, -part, vector);
      });
    }
    return { rest, parts, length: Math.sqrt(dot(rest, rest)) };
  }

  // Add a row; whether it says something new.
  add(row) {
    const { rest, parts, length } = this.split(row);
    if (length <= LEAST_DEMAND) return false;
    this.vectors.push(rest.map((value) => value / length));
    this.triangle.push(Float64Array.of(...parts, length));
    return true;
  }

  // Coefficients of the rows whose sum has these parts: R x = parts.
  combine(parts) {
    const x = Float64Array.from(parts);
    for (let i = x.length - 1; i >= 0; i--) {
      x[i] /= this.triangle[i][i];
      for (let j = 0; j < i; j++) {
        x[j] -= this.triangle[i][j] * x[i];
      }
    }
    return x;
  }

  // The shortest u whose products with the rows are these values: R' y = values.
  shortest(values, n) {
    const inner = new Float64Array(values.length);
    const u = new Float64Array(n);
    values.forEach((value, i) => {
      inner[i] = (value - partialDot(this.triangle[i], inner, i)) / this.triangle[i][i];
      addTo(u, inner[i], this.vectors[i]);
    });
    return { u, multipliers: this.combine(inner) };
  }
}

// The shortest u with rows · u >= least, or = least where isEqual. `multipliers` say
// how hard each demand pulls, `basis` is that of the demands that hold u.
class LeastChange {
  constructor(rows, least, isEqual) {
    const lengths = rows.map((row) => Math.sqrt(dot(row, row)));
    lengths.forEach((length, i) => {
      const asked = isEqual[i] ? Math.abs(least[i]) : least[i];
      if (length === 0 && asked > 0) throw new Contradiction();
    });
    this.n = rows[0].length;
    this.lengths = lengths.map((length) => length || 1);
    this.rows = rows.map((row, i) => row.map((value) => value / this.lengths[i]));
    const asked = least.map((value, i) => value / this.lengths[i]);
    this.scale = Math.max(...asked.map(Math.abs)) || 1;
    this.least = asked.map((value) => value / this.scale);
    this.isEqual = isEqual;
    this.held = []; // demands that hold u, in the order of the basis
    this.solve();
  }

  // Meet the equations first, then what is not met, until all is.
  solve() {
    this.meetEquations();
    for (let step = 0; step < MAX_STEPS; step++) {
      const worst = this.mostMissed();
      if (worst < 0) break;
      this.take(worst);
    }
    const pulls = new Float64Array(this.rows.length);
    this.held.forEach((demand, i) => {
      pulls[demand] = (this.scale * this.multipliers[i]) / this.lengths[demand];
    });
    this.pulls = pulls;
  }

  meetEquations() {
    const equations = range(this.rows.length).filter((i) => this.isEqual[i]);
    this.basis = new Basis();
    this.held = equations.filter((i) => this.basis.add(this.rows[i]));
    this.settle();
    const most = this.allowed();
    const isMissed = (i) => Math.abs(this.missing(i)) > most;
    if (equations.some(isMissed)) throw new Contradiction();
  }

  // By how much rounding may miss a demand.
  allowed() {
    const largest = this.u.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    return MAX_BREACH * (1 + largest);
  }

  // u and the multipliers of the demands that hold it.
  settle() {
    const values = this.held.map((demand) => this.least[demand]);
    Object.assign(this, this.basis.shortest(values, this.n));
  }

  // By how much u misses a demand.
  missing(demand) {
    return this.least[demand] - dot(this.rows[demand], this.u);
  }

  // The demand that is missed most, -1 where all are met.
  mostMissed() {
    let worst = -1;
    let most = LEAST_DEMAND;
    for (let i = 0; i < this.rows.length; i++) {
      if (this.isEqual[i] || this.held.includes(i)) continue;
      const missing = this.missing(i);
      if (missing > most) [worst, most] = [i, missing];
    }
    return worst;
  }

  // Let one more demand hold u; others that would then push are let go.
  take(demand) {
    let pull = 0;
    for (let step = 0; step < MAX_STEPS; step++) {
      const { rest, parts, length } = this.basis.split(this.rows[demand]);
      const shares = this.basis.combine(parts);
      const { first, at } = this.firstToGo(shares);
      const canMove = length > LEAST_DEMAND;
      const whole = canMove ? this.missing(demand) / length ** 2 : Infinity;
      const way = Math.min(first, whole);
      if (way === Infinity) throw new Contradiction();
      pull += way;
      this.multipliers = this.multipliers.map((own, i) => own - way * shares[i]);
      if (canMove) addTo(this.u, way, rest);
      if (whole <= first) break;
      this.letGo(at);
    }
    this.held.push(demand);
    this.basis.add(this.rows[demand]);
    this.settle();
  }

  // How far a demand may be pulled until another one stops to pull, and which.
  firstToGo(shares) {
    let [first, at] = [Infinity, -1];
    this.held.forEach((demand, i) => {
      if (this.isEqual[demand] || shares[i] <= 0) return;
      const way = Math.max(this.multipliers[i], 0) / shares[i];
      if (way < first) [first, at] = [way, i];
    });
    return { first, at };
  }

  // Let go the demand at a place among those that hold u.
  letGo(at) {
    this.held.splice(at, 1);
    this.multipliers = this.multipliers.filter((_, i) => i !== at);
    this.basis = new Basis();
    for (const demand of this.held) {
      this.basis.add(this.rows[demand]);
    }
  }
}
