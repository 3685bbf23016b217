// Which sample to look at: a row by its number or identifier, or a typical one.

const MOST_FOUND = 30;

class Finder {
  constructor(samples, ongo) {
    Object.assign(this, { samples, ongo });
    this.fill();
    $("example").addEventListener("change", (event) => event.target.value !== "" && ongo(Number(event.target.value)));
    $("find").addEventListener("input", () => this.suggest());
    $("find").addEventListener("change", () => this.find());
  }

  fill() {
    const { samples } = this;
    const option = (i) => h("option", { value: i, text: [samples.name(i), samples.told(i)].filter(Boolean).join(": ") });
    const made = samples.made.names.map((_, k) => samples.n + k);
    const groups = [["Rows that stand for others", samples.rows?.typical ?? []], ["No rows of the data", made]];
    $("example").append(h("option", { value: "", text: "Typical samples …" }),
      ...groups.filter(([, list]) => list.length).map(([label, list]) => h("optgroup", { label }, list.map(option))));
    $("finder").hidden = !samples.n;
    if (samples.n && samples.n < samples.rows.count) {
      $("some").textContent = `${samples.n.toLocaleString("en-US")} of ${times(samples.rows.count, "row")} are here, evenly spread.`;
    }
  }

  suggest() {
    const { samples } = this;
    const told = (i) => [samples.rows.ids && `row ${samples.numbers[i] + 1}`, samples.told(i)].filter(Boolean).join(", ");
    const found = samples.find($("find").value, MOST_FOUND);
    $("found-rows").replaceChildren(...found.map((i) => h("option", { value: samples.name(i), text: told(i) })));
  }

  find() {
    const wanted = $("find").value.trim();
    const [found = -1] = this.samples.find(wanted, 1);
    if (found >= 0) this.ongo(found);
    else $("missed").textContent = wanted ? `There is no row “${wanted}” here.` : "";
  }

  show(i) {
    const name = this.samples.name(i);
    $("example").value = String(i);
    if ($("example").selectedIndex < 0) $("example").value = "";
    $("find").value = i < this.samples.n ? name : "";
    $("missed").textContent = "";
    $("sample-name").textContent = name;
  }
}

// What only a printed sheet has: every value of the sample, of sparse ones those that are not zero.
function fillSheet({ features, samples, example, start, x }) {
  const moved = new Set(changedFeatures(features, start, x));
  const told = [...features.names.keys()].filter((f) => features.quantiles || features.value(f, x) !== 0);
  const said = (f, sample) => features.said(f, features.value(f, sample));
  $("values").replaceChildren(...told.map((f) => h("li", {}, h("b", { text: features.names[f] }), " ", said(f, x),
    moved.has(f) && h("i", { text: ` changed from ${said(f, start)}` }))));
  $("sheet").textContent = `Sample ${samples.name(example)}${moved.size ? `, ${times(moved.size, "value")} changed by hand` : ""}`;
}
