// Numbers and values as people read them: the same words as those of the rules in
// Python.

const FIFTHS = ["very low", "low", "medium", "high", "very high"];

// A count with commas between thousands.
function counted(count) {
  return count.toLocaleString("en-US");
}

// A number with three digits.
function number(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1000 && size < 1e9) return counted(Math.round(x));
  return String(Number(x.toPrecision(3)));
}

// A number that somebody may type again.
function exactly(x) {
  return x.toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

// A number of some decimals, with a minus sign as long as a plus sign.
function decimal(x, digits = 3) {
  return x.toFixed(digits).replace("-", "−");
}

// A number with its sign, also where it is positive.
function signed(x, digits = 3) {
  const text = Math.abs(x).toFixed(digits);
  const isNegative = x < 0 && Number(text) !== 0;
  return (isNegative ? "−" : "+") + text;
}

// A share of one as a percentage; what is not quite 0 or 1 is not called so.
function percent(share) {
  if (share > 0 && share < 0.005) return "under 1 %";
  if (share > 0.995 && share < 1) return "over 99 %";
  return `${Math.round(100 * share)} %`;
}

// Among which part of the data a percentile (0..1) lies.
function tail(percentile) {
  if (percentile >= 0.4 && percentile < 0.6) return "near the median";
  const isTop = percentile > 0.5;
  const share = isTop ? 1 - percentile : percentile;
  const shown = Math.max(1, Math.ceil(Number((100 * share).toFixed(6))));
  return `${isTop ? "top" : "bottom"} ${shown} %`;
}

// The word for the fifth of the data in which a percentile (0..1) lies.
function fifth(percentile) {
  return FIFTHS[Math.min(Math.floor(percentile * 5), 4)];
}

// "1 row", "2 rows".
function times(count, noun) {
  return `${counted(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// "a, b and c"; those beyond `most` are counted.
function listed(names, most) {
  const shown = names.slice(0, most);
  if (names.length > most) shown.push(`${names.length - most} more`);
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown[shown.length - 1]}`;
}

// Percentile (0..1) of a value among the training quantiles that begin at `from`; equal
// quantiles count as their middle.
function percentileOf(quantiles, from, value) {
  const level = (i) => i / (N_QUANTILES - 1);
  const values = [];
  const levels = [];
  for (let i = 0; i < N_QUANTILES; ) {
    const own = quantiles[from + i];
    let last = i;
    while (last + 1 < N_QUANTILES && quantiles[from + last + 1] === own) {
      last++;
    }
    values.push(own);
    levels.push((level(i) + level(last)) / 2);
    i = last + 1;
  }
  if (values.length === 1) return 0.5;
  return interpolate(values, levels, 0, values.length, value);
}
