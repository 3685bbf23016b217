// Reading a file of edits. It is data from elsewhere: every part is checked before any
// of it counts, as `mltsk/edits.py` does, and what is wrong is one sentence.

const MAX_FILE_BYTES = 16 * 2 ** 20;
const MAX_EDITS = 10000;
const MAX_EDIT_TEXT = 2000; // characters of a name or a reason
const MAX_LOADED_EFFECT = 100; // log-odds
const MAX_QUOTED = 40; // characters of what is wrong
// By how much numbers of a file may differ from those that its edits give, next to 1
// and the largest.
const FILE_TOLERANCE = 1e-8;
const FILE_KEYS = ["format", "version", "model", "edits"];
const EDIT_KEYS = ["feature", "labels", "action", "author", "reason", "time"];
const POINT_KEYS = ["value", "effect"];
const NUMBER_KEYS = ["intercept", "terms", "pairs"];
const ACTIONS = ["rises", "falls", "off", "point", "free"];
const ISO_TIME = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

// A file that is refused, with a sentence.
class RefusedFile extends Error {}

class EditFile {
  // `name` is that of the file, `model` an EditableModel.
  constructor(name, model) {
    Object.assign(this, { name, model, own: model.data.edits });
  }

  // The edits that a text holds, as the page has them.
  read(text) {
    const content = this.parsed(text);
    this.refuseUnless(
      isObject(content) && content.format === EDITS_FORMAT,
      "is no file of edits: take one that the page of a model exported.",
    );
    this.refuseUnless(
      content.version === EDITS_VERSION,
      `has the version ${quoted(content.version)}, and this page reads version ` +
        `${EDITS_VERSION}.`,
    );
    this.checkKeys(content, FILE_KEYS, ["numbers"], "It");
    this.refuseUnless(
      content.model === this.own.model,
      "was made in the page of another model.",
    );
    const { edits } = content;
    const isList = Array.isArray(edits) && edits.length > 0;
    this.refuseUnless(
      isList && edits.length <= MAX_EDITS,
      `must have a list of 1 to ${counted(MAX_EDITS)} edits.`,
    );
    return edits.map((edit, i) => this.edit(edit, `Edit ${i + 1}`));
  }

  parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      throw this.refused("is no file of edits: it is no JSON.");
    }
  }

  // One edit, with numbers of features and labels in place of names.
  edit(item, where) {
    this.check(isObject(item), where, "is no object.");
    const { action, time } = item;
    this.check(ACTIONS.includes(action), where, `has the action ${quoted(action)}.`);
    const isPoint = action === "point";
    this.checkKeys(item, isPoint ? [...EDIT_KEYS, ...POINT_KEYS] : EDIT_KEYS, [], where);
    for (const key of ["feature", "author", "reason", "time"]) {
      this.check(isTextOfEdit(item[key]), where, `has no text as '${key}'.`);
    }
    const isTime = ISO_TIME.test(time) && !Number.isNaN(Date.parse(time));
    this.check(isTime, where, `has the time ${quoted(time)}.`);
    const feature = this.place(item.feature, this.own.names, "feature", where);
    const labels = this.labels(item.labels, where);
    const { author, reason } = item;
    const edit = { feature, labels, action, author, reason, time };
    this.checkCurve(edit, where);
    return isPoint ? { ...edit, ...this.point(item, feature, where) } : edit;
  }

  // Numbers of the labels that an edit names.
  labels(names, where) {
    this.check(Array.isArray(names) && names.length > 0, where, "names no labels.");
    const places = names.map((name) => {
      return this.place(name, this.own.labelNames, "label", where);
    });
    const isEachOnce = new Set(places).size === places.length;
    this.check(isEachOnce, where, "names a label twice.");
    return places;
  }

  // The number of a name.
  place(name, names, noun, where) {
    const place = names.indexOf(name);
    this.check(place >= 0, where, `names ${quoted(name)}, which is no ${noun} here.`);
    return place;
  }

  // Whether the page can do that to the curve of a feature.
  checkCurve({ feature, action }, where) {
    const { off, rises } = this.model.curves[feature];
    const name = this.own.names[feature];
    const isDirection = action === "rises" || action === "falls";
    this.check(off.length, where, `is about ${quoted(name)}, which has no effect here.`);
    this.check(
      !isDirection || rises,
      where,
      `gives ${quoted(name)} a direction, but its values have no order.`,
    );
  }

  // Value and effect of a point that can be dragged.
  point({ value, effect }, feature, where) {
    const { handles } = this.model.curves[feature];
    const isHandle = handles.some((own) => own.value === value);
    this.check(
      isHandle,
      where,
      `sets a point at ${quoted(value)}, where this page has none: ` +
        "`mltsk correct` reads any.",
    );
    const isEffect = Number.isFinite(effect) && Math.abs(effect) <= MAX_LOADED_EFFECT;
    this.check(isEffect, where, `asks for the effect ${quoted(effect)}.`);
    return { value, effect };
  }

  // Refuse numbers, if the file has them, that are not those of the edits.
  checkNumbers(text, numbers) {
    const written = JSON.parse(text).numbers;
    if (written === undefined) return;
    this.checkKeys(written, NUMBER_KEYS, [], "Its numbers");
    const own = { ...numbers, pairs: numbers.ofPairs };
    for (const key of NUMBER_KEYS) {
      this.refuseUnless(
        areNear(written[key], own[key]),
        "has other numbers than its edits give: it was changed, so export it again.",
      );
    }
  }

  // Refuse what is no object with exactly these keys.
  checkKeys(item, keys, optional, where) {
    this.check(isObject(item), where, "is no object.");
    for (const key of keys) {
      this.check(Object.hasOwn(item, key), where, `has no '${key}'.`);
    }
    const unknown = Object.keys(item).find((key) => {
      return !keys.includes(key) && !optional.includes(key);
    });
    this.check(unknown === undefined, where, `has ${quoted(unknown)}, which is unknown.`);
  }

  check(isRight, where, what) {
    if (!isRight) throw new RefusedFile(`${this.name} is refused: ${where} ${what}`);
  }

  refuseUnless(isRight, what) {
    if (!isRight) throw this.refused(what);
  }

  refused(what) {
    return new RefusedFile(`${this.name} ${what}`);
  }
}

function isObject(item) {
  return typeof item === "object" && item !== null && !Array.isArray(item);
}

// A text of an edit: something to read, and not too much of it.
function isTextOfEdit(text) {
  const isText = typeof text === "string" && text.trim() !== "";
  return isText && text.length <= MAX_EDIT_TEXT && text.isWellFormed?.() !== false;
}

// A value of a file as a sentence shows it.
function quoted(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text;
}

// Whether a list of a file is these numbers.
function areNear(list, numbers) {
  if (!Array.isArray(list) || list.length !== numbers.length) return false;
  const most = numbers.reduce((largest, x) => Math.max(largest, Math.abs(x)), 0);
  return list.every((x, i) => {
    return Number.isFinite(x) && Math.abs(x - numbers[i]) <= FILE_TOLERANCE * (1 + most);
  });
}
