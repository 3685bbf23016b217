"use strict";

// What is folded must be on paper, too: it is opened before printing, and closed again
// after it.
(() => {
  let opened = [];

  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const fold of opened) fold.open = true;
  });

  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
})();
