// The state of the page as the end of its address: which row, what was changed, and
// what is looked at. An address from elsewhere may hold anything: what does not fit the
// model is left out.

const STATE_MARK = "#explorer:";
const SETS = "set."; // begins the key of a feature that was changed
const MAX_ADDRESS = 100_000;

// The end of an address from which `readState` reads this state again.
function writeState(explorer) {
  const { samples, example, features, x, start, data, label, sizes, rule } = explorer;
  const parts = new URLSearchParams();
  parts.set("row", samples.key(example));
  parts.set("label", data.labels[label]);
  if (!sizes.isWhole) parts.set("terms", sizes.sizes[sizes.at].size);
  if (rule >= 0) parts.set("rule", rule + 1);
  for (const f of changedFeatures(features, start, x)) {
    const value = features.value(f, x);
    const text = Number.isNaN(value) ? "" : String(value);
    parts.append(SETS + features.names[f], text);
  }
  return STATE_MARK + parts;
}

// Features of which a sample has another value than it started with.
function changedFeatures(features, start, x) {
  return [...features.names.keys()].filter((f) => {
    return !Object.is(features.value(f, start), features.value(f, x));
  });
}

// The state in the end of an address, or null where there is none. What it does not say
// is -1; the length of the model is then the whole.
function readState(hash, { samples, features, data, sizes }) {
  if (!hash.startsWith(STATE_MARK) || hash.length > MAX_ADDRESS) return null;
  const parts = new URLSearchParams(hash.slice(STATE_MARK.length));
  const rule = parts.get("rule") ?? "";
  return {
    example: samples.ofKey(parts.get("row") ?? ""),
    label: data.labels.indexOf(parts.get("label")),
    values: readValues(parts, features),
    size: sizes.ofTerms(parts.get("terms")),
    rule: /^\d{1,6}$/.test(rule) ? Number(rule) - 1 : -1,
  };
}

// Pairs of a feature and the value that it was set to.
function readValues(parts, features) {
  const values = [];
  for (const [key, text] of parts) {
    if (!key.startsWith(SETS)) continue;
    const f = features.names.indexOf(key.slice(SETS.length));
    const value = text === "" ? NaN : Number(text);
    if (f >= 0 && features.takes(f, value)) values.push([f, value]);
  }
  return values;
}
