// The card in which a model is edited: one curve at a time, with what all edits cost,
// and the log of who changed what and why.

const DIRECTION_WORDS = {
  free: "As the data say",
  rises: "May only rise",
  falls: "May only fall",
  off: "No effect",
};
const EDIT_WORDS = {
  rises: "may only rise",
  falls: "may only fall",
  off: "has no effect",
  free: "is free again",
};
const REFUSED_EDIT =
  "No curve of this model does all of this at once: take an edit of this feature back.";
const REFUSED_EDITS = "no curve of this model does all of that at once.";
const N_ROW_PRICES = 4; // figures of a label where the page has rows
const SEEN_CHANGE = 0.005; // of what can be predicted: less is rounded away

class Editor {
  constructor(explorer, data) {
    Object.assign(this, { explorer, data });
    this.edits = [];
    this.steps = []; // lists of edits before each step that can be taken back
    this.undone = []; // lists of edits that were taken back
    this.numbers = null; // of the edited model, null while there is none
    this.feature = 0;
    this.isOffered = Boolean(data.edits && !data.edits.refused);
    if (!this.isOffered) return;
    this.model = new EditableModel(data);
    // the first feature that has a curve to drag
    const isCurve = ({ handles }) => handles.length > 0;
    this.feature = Math.max(0, this.model.curves.findIndex(isCurve));
    this.whole = new FuzzySystem(data);
    this.judgeByRows();
    this.curve = new EditCurve((...move) => this.drag(...move));
    this.buildFields();
    this.buildPrice();
    this.listen();
    // What all edits need is found before the first: half a second of 2,000 rows.
    const whenIdle = window.requestIdleCallback ?? setTimeout;
    whenIdle(() => this.model.after([]));
  }

  // Judge edits by the rows of the page, where it can.
  judgeByRows() {
    const { judged } = this.data.edits;
    if (!judged || judged.refused) return;
    const { samples } = this.explorer;
    this.model.rows = new LeftOutRows(judged, samples, this.model, this.whole);
  }

  // Which feature and label are edited, and in which direction a curve may go.
  buildFields() {
    const options = (names) => names.map((text, i) => {
      return h("option", { value: String(i), text });
    });
    $("edit-feature").replaceChildren(...options(this.data.features));
    $("edit-label").replaceChildren(...options(this.data.labels));
    $("edit-curve").replaceChildren(this.curve.node);
    this.buttons = Object.entries(DIRECTION_WORDS).map(([action, text]) => {
      const button = h("button", { type: "button", text, "data-action": action });
      button.addEventListener("click", () => this.act(action));
      return button;
    });
    $("edit-directions").replaceChildren(...this.buttons);
  }

  // How well each label is predicted, before and after: a row, or its name above a row of
  // more figures.
  buildPrice() {
    const columns = this.model.rows ? N_ROW_PRICES : 3;
    const isWide = columns === N_ROW_PRICES;
    this.prices = this.data.labels.map((name) => {
      const cells = range(columns).map(() => h("td"));
      const scope = isWide ? { scope: "rowgroup", colspan: columns } : { scope: "row" };
      const head = h("th", { ...scope, text: name, title: name });
      if (!isWide) return { nodes: [h("tr", {}, head, cells)], cells };
      return { nodes: [h("tr", { class: "of-label" }, head), h("tr", {}, cells)], cells };
    });
    $("edit-price").replaceChildren(...this.prices.flatMap(({ nodes }) => nodes));
  }

  // What the fields and buttons of the card do.
  listen() {
    const actions = {
      "edit-undo": () => this.undo(),
      "edit-redo": () => this.redo(),
      "edit-export": () => this.export(),
      "edit-load": () => $("edit-file").click(),
    };
    for (const [id, act] of Object.entries(actions)) {
      $(id).addEventListener("click", act);
    }
    $("edit-feature").addEventListener("change", (event) => {
      this.select(Number(event.target.value));
    });
    $("edit-label").addEventListener("change", (event) => {
      this.explorer.choose(Number(event.target.value));
    });
    $("edit-card").addEventListener("keydown", (event) => this.key(event));
    $("edit-log").addEventListener("input", ({ target }) => {
      const edit = this.edits[Number(target.dataset.edit)];
      edit.reason = target.value;
      edit.author = ""; // whoever exports it says so now
    });
    $("edit-file").addEventListener("change", ({ target }) => {
      this.load(target.files[0]);
      target.value = ""; // the same file may be chosen again
    });
    this.listenToDrops();
  }

  // A file that is dropped anywhere in the explorer is loaded.
  listenToDrops() {
    const { root } = this.explorer;
    const holdsFile = ({ dataTransfer }) => dataTransfer.types.includes("Files");
    const mark = (isOver) => $("edit-card").classList.toggle("drop", isOver);
    root.addEventListener("dragover", (event) => {
      if (!holdsFile(event)) return;
      event.preventDefault();
      mark(true);
    });
    root.addEventListener("dragleave", (event) => {
      if (!root.contains(event.relatedTarget)) mark(false);
    });
    root.addEventListener("drop", (event) => {
      if (!holdsFile(event)) return;
      event.preventDefault();
      mark(false);
      $("edit-card").scrollIntoView({ block: "nearest" });
      this.load(event.dataTransfer.files[0]);
    });
  }

  // Take the edits of a file in place of those that are there, as one step that can be
  // taken back; refuse it with a sentence otherwise.
  async load(file) {
    if (!file) return;
    try {
      if (file.size > MAX_FILE_BYTES) {
        throw new RefusedFile(`${file.name} is too large for a file of edits.`);
      }
      this.takeFile(file.name, await file.text());
    } catch (error) {
      if (error instanceof RefusedFile) this.say(error.message);
      else if (error instanceof DOMException) this.say(`${file.name} cannot be read.`);
      else throw error;
    }
  }

  takeFile(name, text) {
    const reader = new EditFile(name, this.model);
    const edits = reader.read(text);
    const numbers = this.solved(edits);
    if (!numbers) throw new RefusedFile(`${name} is refused: ${REFUSED_EDITS}`);
    reader.checkNumbers(text, numbers);
    this.steps.push(this.edits);
    this.undone = [];
    const { feature, labels } = edits[edits.length - 1];
    if (!labels.includes(this.explorer.label)) this.explorer.choose(labels[0]);
    this.feature = feature;
    this.begin();
    this.take(edits, numbers, true);
    const authors = [...new Set(edits.map(({ author }) => author))];
    const whose = listed(authors, MAX_ANNOUNCED);
    this.say(`Loaded ${times(edits.length, "edit")} of ${whose}. Undo takes this back.`);
  }

  // Ctrl+Z takes an edit back, with Shift or as Ctrl+Y it comes again, except where
  // somebody types.
  key(event) {
    const isTyping = event.target.closest("input[type=text]");
    if (!(event.ctrlKey || event.metaKey) || isTyping) return;
    const wanted = event.key.toLowerCase();
    if (wanted !== "z" && wanted !== "y") return;
    event.preventDefault();
    if (wanted === "y" || event.shiftKey) this.redo();
    else this.undo();
  }

  // Labels that the next edit is about.
  get labels() {
    const isAll = $("edit-all").checked;
    return isAll ? [...this.data.labels.keys()] : [this.explorer.label];
  }

  // What is asked of the curve that is looked at.
  get wish() {
    const own = wishesOf(this.edits).get(this.feature);
    return own?.get(this.explorer.label) ?? NO_WISH;
  }

  // Whether the model is another one than that of the page.
  get isEdited() {
    return this.numbers !== null;
  }

  // Look at the curve of another feature.
  select(f) {
    this.feature = f;
    this.begin();
    this.show();
  }

  // Points at the places of the curve of this feature for this label.
  begin() {
    const { explorer, feature, model } = this;
    const values = model.curves[feature].handles.map(({ value }) => value);
    const label = this.data.labels[explorer.label];
    const name = `Effect of ${this.data.features[feature]} on ${label}`;
    this.curve.begin(feature, values, explorer.features, name);
    this.begunFor = explorer.label;
  }

  // A point was dragged: at most one answer a frame, however fast it moves.
  drag(value, effect, isDone) {
    this.dragged = { action: "point", value, effect };
    if (isDone) {
      cancelAnimationFrame(this.frame);
      this.frame = null;
      this.change(this.dragged, true);
    } else {
      this.frame ??= requestAnimationFrame(() => {
        this.frame = null;
        this.change(this.dragged, false);
      });
    }
  }

  // A direction was chosen; what is there already is no edit.
  act(action) {
    const own = wishesOf(this.edits).get(this.feature) ?? new Map();
    const isThere = (wish) => {
      if (action === "free") return !isAsked(wish);
      return action === "off" ? wish.isOff : wish.direction === action;
    };
    if (this.labels.every((j) => isThere(own.get(j) ?? NO_WISH))) return;
    this.change({ action }, true);
  }

  // One more edit, or the last one again while its point moves.
  change(what, isDone) {
    const { edits, feature, labels } = this;
    const last = edits[edits.length - 1];
    const isSame = last && isSamePoint(last, { ...what, feature, labels });
    const own = { feature, labels, ...what, author: "", reason: "" };
    const edit = { ...(isSame ? last : own), ...what, time: now() };
    const changed = [...(isSame ? edits.slice(0, -1) : edits), edit];
    const began = performance.now();
    const numbers = this.solved(changed);
    if (!numbers) {
      this.show();
      return;
    }
    if (!isSame) this.steps.push(edits);
    this.undone = [];
    this.take(changed, numbers, isDone);
    this.lastTook = performance.now() - began; // milliseconds
  }

  // The numbers after some edits, or false where there are none.
  solved(edits) {
    try {
      const numbers = this.model.after(edits);
      this.say("");
      return numbers;
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error;
      this.say(REFUSED_EDIT);
      return false;
    }
  }

  // Take a list of edits with its numbers; where nothing is asked any more, the model is
  // that of the page.
  take(edits, numbers, isDone) {
    const isAny = [...wishesOf(edits).values()].some((own) => {
      return [...own.values()].some(isAsked);
    });
    this.edits = edits;
    this.numbers = isAny ? numbers : null;
    this.explorer.takeEdits(isAny ? this.model.overlay(numbers) : {}, isDone);
    this.show();
    if (isDone) this.announce();
  }

  undo() {
    if (!this.steps.length) return;
    this.undone.push(this.edits);
    const edits = this.steps.pop();
    this.take(edits, this.solved(edits), true);
  }

  redo() {
    if (!this.undone.length) return;
    this.steps.push(this.edits);
    const edits = this.undone.pop();
    this.take(edits, this.solved(edits), true);
  }

  // Show the curve, what edits cost, and the log.
  show() {
    this.showMark();
    if (!this.isOffered) return;
    const { explorer, feature } = this;
    if (this.begunFor !== explorer.label) this.begin();
    const after = this.isEdited ? explorer.system : this.whole;
    this.curve.show(this.whole, after, explorer.label, this.wish.points);
    this.curve.node.hidden = !this.curve.handles.length;
    $("edit-legend").hidden = !this.curve.handles.length;
    $("edit-feature").value = String(feature);
    $("edit-label").value = String(explorer.label);
    $("edit-hint").textContent = this.hint();
    this.showDirections();
    this.showPrice();
    this.showLog();
  }

  // Say at the head of the page that its model was edited.
  showMark() {
    const count = this.data.log.length + (this.isEdited ? this.edits.length : 0);
    $("edited").hidden = !count;
    $("edited").textContent = `Edited model: ${times(count, "edit")}`;
  }

  // What can be edited of this feature.
  hint() {
    const name = this.data.features[this.feature];
    const { handles, off, rises } = this.model.curves[this.feature];
    if (!off.length) return `${name} has no effect in this model.`;
    if (!handles.length && rises) {
      return `${name} is no or yes: from one to the other its effect may rise or fall.`;
    }
    if (!handles.length) {
      return `The values of ${name} have no order: it can be switched off.`;
    }
    if (handles.length === 1) {
      return "This curve is a straight line: its one point turns it.";
    }
    return "Drag a point up or down, or move it with the arrow keys.";
  }

  // Which direction was chosen.
  showDirections() {
    const { direction, isOff, points } = this.wish;
    const asData = points.size ? null : "free";
    const chosen = isOff ? "off" : (direction ?? asData);
    const { rises, off } = this.model.curves[this.feature];
    for (const button of this.buttons) {
      const { action } = button.dataset;
      const isDirection = action === "rises" || action === "falls";
      button.ariaPressed = String(action === chosen);
      button.disabled = !off.length || (isDirection && !rises);
    }
  }

  // How much of label j can be predicted, as a share of the squared loss of its base rate.
  told(losses, j) {
    return 1 - losses[j] / this.model.baseLoss(j);
  }

  // What all edits cost each label.
  showPrice() {
    const { losses } = this.model;
    const after = this.numbers?.losses ?? losses;
    this.prices.forEach(({ nodes, cells }, j) => {
      nodes[nodes.length - 1].title = `squared loss ${losses[j].toFixed(4)}, now ${after[j].toFixed(4)}`;
      if (!this.model.rows) this.showToldPrice(cells, losses, after, j);
    });
    if (this.model.rows) this.showRowPrices();
    const gone = this.isEdited ? this.model.leftOut(this.numbers) : "";
    $("edit-left-out").hidden = !gone;
    $("edit-left-out").textContent = `Not in the edited model: ${gone}.`;
  }

  // How much of label j can be predicted, before and after.
  showToldPrice(cells, losses, after, j) {
    const shares = [losses, after].map((own) => this.told(own, j));
    const change = shares[1] - shares[0];
    cells[0].textContent = percentTold(shares[0]);
    cells[1].textContent = percentTold(shares[1]);
    cells[2].textContent = changeTold(change);
    cells[2].classList.toggle("lost", change < -SEEN_CHANGE);
  }

  // How well rows that were left out are ranked, and how many cases are found.
  showRowPrices() {
    const { before } = this.model.rows;
    this.after = this.isEdited ? this.model.rows.judged(this.numbers.logOdds) : before;
    this.prices.forEach(({ cells }, j) => {
      const [was, is] = [before[j], this.after[j]];
      const digits = (x) => (x === null ? "–" : decimal(x));
      showFromTo(cells[0], counted(was.found), counted(is.found), was.cases);
      showFromTo(cells[1], counted(was.alarms), counted(is.alarms), was.others);
      showFromTo(cells[2], digits(was.AP), digits(is.AP));
      showFromTo(cells[3], digits(was.AUC), digits(is.AUC));
      const lost = new Set(whatIsLost(was, is).map(({ place }) => place));
      cells.forEach((cell, i) => cell.classList.toggle("lost", lost.has(i)));
    });
  }

  // All edits, each with the reason that somebody gives.
  showLog() {
    const items = this.edits.map((edit, i) => {
      const told = this.editTold(edit);
      const reason = h("input", {
        type: "text",
        value: edit.reason,
        maxlength: 500,
        placeholder: "Why?",
        "aria-label": `Why ${told}?`,
        "data-edit": i,
      });
      const who = edit.author && h("span", {
        class: "muted edit-who",
        text: `${edit.author}, ${edit.time.slice(0, "2026-01-31".length)}`,
      });
      return h("li", {}, h("span", { text: told }), reason, who);
    });
    $("edit-log").replaceChildren(...items);
    $("edit-none").hidden = items.length > 0;
    $("edit-undo").disabled = !this.steps.length;
    $("edit-redo").disabled = !this.undone.length;
    $("edit-export").disabled = !this.isEdited;
  }

  // An edit in words.
  editTold({ feature, labels, action, value, effect }) {
    const name = this.data.features[feature];
    const isAll = labels.length === this.data.labels.length && labels.length > 1;
    const names = labels.map((j) => this.data.labels[j]);
    const whom = isAll ? "all labels" : listed(names, MAX_ANNOUNCED);
    if (action !== "point") return `${name} ${EDIT_WORDS[action]} for ${whom}`;
    const at = this.explorer.features.brief(feature, value);
    return `${name} adds ${signed(effect, 2)} at ${at} for ${whom}`;
  }

  // All edits on paper: those of the model, and those of today.
  linesOnPaper() {
    const earlier = this.data.log.map(({ told, author, reason }) => {
      return `${told} (${author}: ${reason})`;
    });
    if (!this.isEdited) return earlier;
    return [...earlier, ...this.edits.map((edit) => {
      return edit.reason ? `${this.editTold(edit)} (${edit.reason})` : this.editTold(edit);
    })];
  }

  // For those who hear the page: the last edit, and what all of them cost most.
  announce() {
    const last = this.edits[this.edits.length - 1];
    const words = last ? this.editTold(last) : "There are no edits";
    this.say(`${words}. ${this.isEdited ? this.priceTold() : ""}`);
  }

  // What edits cost the label that loses most, in cases where there are rows.
  priceTold() {
    const { losses, rows } = this.model;
    const lost = this.data.labels.map((_, j) => {
      if (rows) return whatIsLost(rows.before[j], this.after[j]);
      const change = this.told(this.numbers.losses, j) - this.told(losses, j);
      return change < -SEEN_CHANGE ? [{ share: -change, words: changeTold(change) }] : [];
    });
    const sizes = lost.map((parts) => Math.max(0, ...parts.map(({ share }) => share)));
    const most = sizes.indexOf(Math.max(...sizes));
    if (!lost[most].length) return "No label loses anything to speak of.";
    const words = lost[most].map((part) => part.words);
    return `In all, ${this.data.labels[most]} loses most: ${listed(words, words.length)}.`;
  }

  say(words) {
    if ($("edit-said").textContent !== words) $("edit-said").textContent = words;
  }

  // Hand out the edits as a file, once they say who and why.
  export() {
    const author = $("edit-author").value.trim();
    if (!author) {
      this.say("Who are you? The log says who changed what.");
      $("edit-author").focus();
      return;
    }
    const missing = this.edits.findIndex(({ reason }) => !reason.trim());
    if (missing >= 0) {
      this.say("Why? The log says why, for every edit.");
      $("edit-log").querySelectorAll("input")[missing].focus();
      return;
    }
    for (const edit of this.edits) {
      edit.author ||= author;
    }
    const text = JSON.stringify(this.model.exported(this.edits), null, 1);
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    const anchor = h("a", { href: address, download: "edits.json" });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    this.say('Exported: mltsk.edited("model.skops", "edits.json") is this model.');
  }
}

// What of a label's figures is worse than before, by which share, and in words.
function whatIsLost(was, is) {
  const missed = was.found - is.found;
  const alarms = is.alarms - was.alarms;
  const told = ["AP", "AUC"].filter((name) => was[name] !== null);
  const ranks = told.map((name) => ({
    share: was[name] - is[name],
    isSeen: was[name] - is[name] > SEEN_CHANGE,
    words: `an ${name} of ${decimal(is[name])} instead of ${decimal(was[name])}`,
  }));
  const figures = [
    {
      share: missed / was.cases,
      isSeen: missed > 0,
      words: `${times(missed, "case")} fewer found`,
    },
    {
      share: alarms / was.others,
      isSeen: alarms > 0,
      words: `${times(alarms, "false alarm")} more`,
    },
    ...ranks,
  ];
  return figures.map((part, place) => ({ ...part, place })).filter((part) => part.isSeen);
}

// Whether two edits are about the same point of the same curves.
function isSamePoint(one, other) {
  return (
    one.action === "point" &&
    other.action === "point" &&
    one.value === other.value &&
    one.feature === other.feature &&
    one.labels.join() === other.labels.join()
  );
}

// The time, as files have it.
function now() {
  return new Date().toISOString();
}

// Show a figure before and after in a cell, once where it is the same, and of how many.
function showFromTo(cell, before, after, total = null) {
  const parts = before === after ? [before] : [`${before} →`, after];
  const spans = parts.map((text) => h("span", { text }));
  const ofAll = total === null ? [] : [h("small", { text: `of ${counted(total)}` })];
  cell.replaceChildren(...[...spans, ...ofAll].flatMap((node) => [node, " "]));
}

// A share that may be below 0.
function percentTold(share) {
  return `${decimal(100 * share, 0)} %`;
}

// A change of a share, in hundredths.
function changeTold(change) {
  return `${signed(100 * change, 1)} points`;
}
