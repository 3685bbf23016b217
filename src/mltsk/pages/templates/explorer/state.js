// The state of the page as the end of its address: which row, what was changed, and what is looked at. An address from
// elsewhere may hold anything: what does not fit the model is left out.

const MARK = "#explorer:";

function writeState({ samples, example, features, x, start, data, label, sizes, rule }) {
  const parts = new URLSearchParams({ row: samples.key(example), label: data.labels[label] });
  if (sizes.sizes.length && sizes.at < sizes.sizes.length - 1) parts.set("terms", sizes.sizes[sizes.at].size);
  if (rule >= 0) parts.set("rule", rule + 1);
  for (const f of changedFeatures(features, start, x)) {
    const value = features.value(f, x);
    parts.append(`set.${features.names[f]}`, Number.isNaN(value) ? "" : String(value));
  }
  return MARK + parts;
}

function changedFeatures(features, start, x) {
  return [...features.names.keys()].filter((f) => !Object.is(features.value(f, start), features.value(f, x)));
}

function readState(hash, { samples, features, data, sizes }) {
  if (!hash.startsWith(MARK) || hash.length > 100_000) return null;
  const parts = new URLSearchParams(hash.slice(MARK.length));
  const values = [];
  for (const [key, text] of parts) {
    const f = key.startsWith("set.") ? features.names.indexOf(key.slice(4)) : -1;
    const value = text === "" ? NaN : Number(text);
    if (f >= 0 && features.takes(f, value)) values.push([f, value]);
  }
  const terms = sizes.sizes.findIndex((size) => String(size.size) === parts.get("terms"));
  return {
    example: samples.ofKey(parts.get("row") ?? ""), label: data.labels.indexOf(parts.get("label")), values,
    size: terms < 0 ? sizes.sizes.length - 1 : terms, rule: /^\d{1,6}$/.test(parts.get("rule") ?? "") ? Number(parts.get("rule")) - 1 : -1,
  };
}
