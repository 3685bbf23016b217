// Numbers and values as people read them: the same words as the rules in Python.

const FIFTHS = ["very low", "low", "medium", "high", "very high"];
const GRID = Float64Array.from({ length: 21 }, (_, i) => i / 20);

function number(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1000 && size < 1e9) return Math.round(x).toLocaleString("en-US");
  return String(Number(x.toPrecision(3)));
}

// A number that somebody may type again.
function exactly(x) {
  return x.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

function signed(x, digits = 3) {
  const text = Math.abs(x).toFixed(digits);
  return (x < 0 && Number(text) !== 0 ? "−" : "+") + text;
}

function percent(share) {
  if (share > 0 && share < 0.005) return "under 1 %";
  if (share > 0.995 && share < 1) return "over 99 %";
  return `${Math.round(100 * share)} %`;
}

function tail(percentile) {
  if (percentile >= 0.4 && percentile < 0.6) return "near the median";
  const share = percentile > 0.5 ? 1 - percentile : percentile;
  const shown = Math.max(1, Math.ceil(Number((100 * share).toFixed(6))));
  return percentile > 0.5 ? `top ${shown} %` : `bottom ${shown} %`;
}

function fifth(percentile) {
  return FIFTHS[Math.min(Math.floor(percentile * 5), 4)];
}

function times(count, noun) {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

// "a, b and c", with the rest counted.
function listed(names, most) {
  const shown = names.slice(0, most);
  if (names.length > most) shown.push(`${names.length - most} more`);
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}`;
}

// Percentile (0..1) of a value among 21 training quantiles; tied quantiles count as their middle.
function percentileOf(quantiles, from, value) {
  const xs = [];
  const ys = [];
  for (let i = 0; i < 21; ) {
    let j = i;
    while (j + 1 < 21 && quantiles[from + j + 1] === quantiles[from + i]) j++;
    xs.push(quantiles[from + i]);
    ys.push((GRID[i] + GRID[j]) / 2);
    i = j + 1;
  }
  return xs.length === 1 ? 0.5 : interpolate(xs, ys, 0, xs.length, value);
}
