// How steep a feature is, whatever the features are that it acts together with: what
// `fit/pair_slopes.py` does. Nothing of the page.
//
// Symbols: s slopes, P terms, m rules of pairs with one other feature, v values of it.

// A slope is missed if it is below 0 by this share of what the largest number would add.
const MISSED_SHARE = 1e-12;

class PairSlopes {
  // `columns` are those of terms, `terms` their rows (s, c) for slopes of the curve, and
  // `partners` have { columns, steps (s, m), values (v, m) }.
  constructor({ count, columns, terms, partners }) {
    this.count = count;
    this.columns = columns;
    this.terms = unpackFloats(terms);
    this.partners = partners.map((partner) => {
      const [steps, values] = [partner.steps, partner.values].map(unpackFloats);
      return { columns: partner.columns, steps, values };
    });
  }

  // Demands on numbers b for the slopes, times a sign, that are below 0. `places` are
  // those of all columns among those of b.
  missed(b, places, sign) {
    const largest = b.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const partners = this.partners.filter(({ columns }) => places.has(columns[0]));
    const demands = [];
    for (let s = 0; partners.length && s < this.count; s++) {
      const { columns, row, worst } = this.leastRow(b, places, sign, partners, s);
      const slope = sumOf(columns.map((column, i) => row[i] * b[column]));
      const whole = sumOf([...row].map(Math.abs));
      if (slope < -MISSED_SHARE * whole * largest) {
        demands.push({ columns, row, least: 0, isEqual: false, key: `${s} ${worst}` });
      }
    }
    return demands;
  }

  // The row whose sum with b is slope number s, each partner at its worst value. `worst`
  // says where these values are.
  leastRow(b, places, sign, partners, s) {
    const width = this.columns.length;
    const columns = [...this.columns];
    const row = range(width).map((i) => sign * this.terms[s * width + i]);
    const worst = [];
    for (const { columns: rules, steps, values } of partners) {
      const own = rules.map((rule) => places.get(rule));
      const m = rules.length;
      let least = null;
      for (let from = 0; from < values.length; from += m) {
        const part = own.map((_, i) => sign * steps[s * m + i] * values[from + i]);
        const added = sumOf(part.map((value, i) => value * b[own[i]]));
        if (!least || added < least.added) least = { added, part, from };
      }
      columns.push(...own);
      row.push(...least.part);
      worst.push(least.from);
    }
    return { columns, row: Float64Array.from(row), worst };
  }
}
