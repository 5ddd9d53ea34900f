// Corrections are kept in the browser, for each document: a page that is opened again has them. What is stored are the
// decisions, those undone included, so that a novel takes a few kilobytes.

const storage = { key: null, works: true };

/** A number that differs between documents: of the text and of what was found in it, as it was before any correction. */
function fingerprint({ text, mentions, entities }) {
  const hash = new Hash();
  hash.add(text);
  for (const { start, end, entity } of mentions) hash.add(`${start} ${end} ${entity?.id}`);
  for (const { id, name, type } of entities) hash.add(`${id} ${name} ${type}`);
  return hash.value;
}

/** A hash of 64 bits: FNV-1a, twice. It tells documents apart, and protects nothing. */
class Hash {
  constructor() {
    [this.first, this.second] = [0x811c9dc5, 0x9747b28c];
  }

  add(text) {
    let [first, second] = [this.first, this.second];
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      first = Math.imul(first ^ code, 0x01000193);
      second = Math.imul(second ^ (code + 0x7f), 0x85ebca6b);
    }
    [this.first, this.second] = [first ^ 0xff, second ^ 0xff];
  }

  get value() {
    return [this.first, this.second].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null; // a page opened from a file may have no storage
  }
}

/** Stores a value, or removes it if it is null; returns whether that worked. */
function store(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, value);
    return true;
  } catch {
    return false;
  }
}

function autosave() {
  if (!storage.key) return;
  const [done, undone] = [state.done, state.undone].map((changes) => changes.map(({ decision }) => decision));
  const value = done.length || undone.length ? JSON.stringify({ done, undone, saved: state.saved }) : null;
  storage.works = store(storage.key, value);
}

/** Makes the corrections again that are stored for the open document. */
function restore() {
  storage.key = `longcoref-corrections-${fingerprint(state.doc)}`;
  const value = stored(storage.key);
  if (!value) return;
  try {
    const { done, undone, saved } = JSON.parse(value);
    const all = [...done, ...undone.toReversed()];
    for (const decision of all) state.done.push(apply(state.doc, changeOf(state.doc, decision)));
    for (const _ of undone) state.undone.push(apply(state.doc, state.done.pop()));
    state.saved = saved;
    if (done.length) announce(`Your ${counted(done.length, "correction")} from last time ${done.length === 1 ? "is" : "are"} here`, { actions: [["Undo all", undoAll]] });
  } catch {
    while (state.done.length) apply(state.doc, state.done.pop());
    state.undone = [];
    store(storage.key, null); // damaged, or of another version of the page
  }
}

/** Asks before corrections are lost. */
function mayReplaceDocument() {
  return state.saved || !state.done.length || confirm("Your corrections have not been downloaded. Discard them?");
}

function renderHistory() {
  byId("undo").disabled = byId("undo-all").disabled = !state.done.length;
  byId("redo").disabled = !state.undone.length;
  const count = counted(state.done.length, "correction");
  const where = state.saved ? "in the file you downloaded" : storage.works ? "kept in this browser, not downloaded yet" : "not saved: download them";
  byId("saved").textContent = state.done.length ? `${count}, ${where}` : "No corrections";
}

function setUpAutosave() {
  on("opened", () => (storage.key = null));
  on("document saved", autosave);
  on("document saved", renderHistory);
  addEventListener("beforeunload", (event) => {
    if (!storage.works && !state.saved) event.preventDefault();
  });
}
