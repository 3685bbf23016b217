"use strict";

(() => {
  const root = document.documentElement;

  // The part that a link goes to is unfolded, and with it all that it lies in.
  const unfold = (node) => {
    for (let fold = node; fold; fold = fold.parentElement?.closest("details")) {
      if (fold.tagName === "DETAILS") fold.open = true;
    }
  };

  const follow = () => {
    const target = document.getElementById(location.hash.slice(1));
    const fold = target?.closest("details");
    if (!fold || fold.open) return;
    unfold(fold);
    target.scrollIntoView();
  };

  addEventListener("hashchange", follow);
  for (const link of document.querySelectorAll("nav.parts a")) {
    link.addEventListener("click", () => {
      const target = document.getElementById(link.hash.slice(1));
      unfold(target?.closest("details"));
    });
  }

  // The part that is on the screen is marked in the bar of contents.
  const links = [...document.querySelectorAll("nav.parts a")];
  const mark = () => {
    let current = null;
    for (const link of links) {
      const heading = document.getElementById(link.hash.slice(1));
      if (heading.getBoundingClientRect().top < innerHeight / 3) current = link;
    }
    for (const link of links) {
      if (link === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", mark, { passive: true });

  // Paper: for the file, or everything. What is folded and printed is opened before
  // printing, and closed again after it.
  let opened = [];
  addEventListener("beforeprint", () => {
    const all = root.classList.contains("everything");
    const folds = all ? "details:not([open])" : "details.filed:not([open])";
    opened = [...document.querySelectorAll(folds)];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    root.classList.remove("everything");
  });
  document.getElementById("r-print-file").addEventListener("click", () => print());
  document.getElementById("r-print-all").addEventListener("click", () => {
    root.classList.add("everything");
    print();
  });

  // What another threshold would change, counted in the rows of the table.
  const { percents, labels } = JSON.parse(
    document.getElementById("r-counts").textContent,
  );
  // Of two whole numbers as near, the even one, as in the figures above.
  const rounded = (x) => {
    const low = Math.floor(x);
    if (x - low === 0.5) return low + (low % 2);
    return Math.round(x);
  };
  const hundred = (part, whole) => (whole ? rounded(100 * (part / whole)) : null);
  const outOf = (part, whole, among, outcome) => {
    if (!whole) return `There are no rows ${among}.`;
    return `Of 100 rows ${among}, ${hundred(part, whole)} ${outcome}.`;
  };
  // Net benefit per 100 rows.
  const benefit = (found, alarms, n, odds) => {
    const figure = (100 * (found - alarms * odds)) / n;
    return figure.toFixed(1).replace(/^-0\.0$/, "0.0");
  };

  // Where the label is given now, the counts are those of the figures above.
  const countsAt = (counts, k) => {
    if (k === counts.start) return { ...counts.own, now: "As it is now, from about" };
    return {
      percent: percents[k],
      found: counts.found[k],
      alarms: counts.alarms[k],
      now: "From",
    };
  };

  const words = (counts, k) => {
    const { percent, found, alarms, now } = countsAt(counts, k);
    const { cases, others } = counts;
    const n = cases + others;
    const given = found + alarms;
    const odds = percent / (100 - percent);
    const model = benefit(found, alarms, n, odds);
    const everybody = benefit(cases, others, n, odds);
    return [
      `${now} ${percent} % on: ${hundred(given, n)} of 100 rows are given it.`,
      outOf(found, cases, "that have it", "are found"),
      outOf(alarms, others, "that do not", "get a false alarm"),
      outOf(found, given, "given it", "have it"),
      outOf(others - alarms, n - given, "not given it", "do not have it"),
      `Net benefit ${model} per 100 rows (acting on all ${everybody}, on none 0).`,
    ].join(" ");
  };

  for (const mover of document.querySelectorAll(".mover")) {
    const counts = labels[Number(mover.dataset.label)];
    const slider = mover.querySelector("input");
    const output = mover.querySelector("output");
    slider.max = String(percents.length - 1);
    slider.value = String(counts.start);
    const show = () => {
      output.textContent = words(counts, Number(slider.value));
      const { percent } = countsAt(counts, Number(slider.value));
      slider.setAttribute("aria-valuetext", `${percent} %`);
    };
    slider.addEventListener("input", show);
    show();
    mover.hidden = false;
  }

  follow();
})();
