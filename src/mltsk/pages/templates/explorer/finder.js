// Which sample to look at: a row by its number or identifier, or a typical one; and the
// sheet of a sample, for paper.

const MAX_SUGGESTIONS = 30;

class Finder {
  constructor(samples, ongo) {
    Object.assign(this, { samples, ongo });
    this.fillExamples();
    this.showCount();
    $("example").addEventListener("change", (event) => {
      if (event.target.value !== "") ongo(Number(event.target.value));
    });
    $("find").addEventListener("input", () => this.suggest());
    $("find").addEventListener("change", () => this.find());
  }

  // The list of typical samples.
  fillExamples() {
    const { samples } = this;
    const typical = samples.rows?.typical ?? [];
    const made = samples.made.names.map((_, k) => samples.n + k);
    $("example").append(h("option", { value: "", text: "Typical samples …" }));
    this.addExamples("Rows that stand for others", typical);
    this.addExamples("No rows of the data", made);
  }

  // A group of samples in the list, unless it is empty.
  addExamples(label, group) {
    const { samples } = this;
    if (!group.length) return;
    const options = group.map((i) => {
      const text = [samples.name(i), samples.told(i)].filter(Boolean).join(": ");
      return h("option", { value: i, text });
    });
    $("example").append(h("optgroup", { label }, options));
  }

  // How many rows of the data are in the page, where not all are.
  showCount() {
    const { n, rows } = this.samples;
    $("finder").hidden = !n;
    if (!n || n === rows.count) return;
    const all = times(rows.count, "row");
    $("some").textContent = `${counted(n)} of ${all} are here, evenly spread.`;
  }

  // Suggest rows for what was typed so far.
  suggest() {
    const { samples } = this;
    const options = samples.find($("find").value, MAX_SUGGESTIONS).map((i) => {
      const number = samples.rows.ids && `row ${samples.numbers[i] + 1}`;
      const text = [number, samples.told(i)].filter(Boolean).join(", ");
      return h("option", { value: samples.name(i), text });
    });
    $("found-rows").replaceChildren(...options);
  }

  // Go to the row that was typed, or say that there is none.
  find() {
    const wanted = $("find").value.trim();
    const [row] = this.samples.find(wanted, 1);
    if (row !== undefined) this.ongo(row);
    else $("missed").textContent = wanted ? `There is no row “${wanted}” here.` : "";
  }

  // Show which sample is looked at.
  show(i) {
    const name = this.samples.name(i);
    $("example").value = String(i);
    if ($("example").selectedIndex < 0) $("example").value = "";
    $("find").value = i < this.samples.n ? name : "";
    $("missed").textContent = "";
    $("sample-name").textContent = name;
  }
}

// What only a printed sheet has: every value of the sample, of sparse ones those that
// are not zero.
function fillSheet({ features, samples, example, start, x, editor }) {
  const changed = new Set(changedFeatures(features, start, x));
  const told = [...features.names.keys()].filter((f) => {
    return features.quantiles || features.value(f, x) !== 0;
  });
  const rows = told.map((f) => {
    const value = features.said(f, features.value(f, x));
    const before = features.said(f, features.value(f, start));
    const note = changed.has(f) && h("i", { text: ` changed from ${before}` });
    return h("li", {}, h("b", { text: features.names[f] }), " ", value, note);
  });
  const count = times(changed.size, "value");
  const note = changed.size ? `, ${count} changed by hand` : "";
  const edits = editor.linesOnPaper().map((text) => h("li", { text }));
  $("values").replaceChildren(...rows);
  $("edit-sheet").replaceChildren(...edits);
  $("sheet").textContent = `Sample ${samples.name(example)}${note}`;
}
