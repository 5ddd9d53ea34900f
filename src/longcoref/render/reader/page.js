// Sets up the page: keys, theme, and the first document.

function showAll() {
  redraw(); // first, because the new text may have fewer blocks than are drawn
  find();
  tell("document");
  if (!state.trace) showStrip("timeline");
}

function setTitle(title) {
  document.title = byId("title").textContent = byId("title").title = title;
}

function turnTheme() {
  setTheme(isDark() ? "light" : "dark");
  store("longcoref-theme", isDark() ? "dark" : "light");
}

function setTheme(theme) {
  document.documentElement.style.colorScheme = theme;
  tell("theme");
}

function escape() {
  if (state.picking) cancelPicking();
  else if (byId("cast").classList.contains("open")) showCast(false);
  else if (!network.hidden) showNetwork(false);
  else select(null);
}

const keys = {
  n: () => step(1),
  ArrowRight: () => step(1),
  p: () => step(-1),
  ArrowLeft: () => step(-1),
  q: () => stepQuote(1),
  Q: () => stepQuote(-1),
  c: () => stepChapter(1),
  C: () => stepChapter(-1),
  "/": () => byId("query").focus(),
  g: () => showNetwork(network.hidden),
  r: () => byId("name")?.select(),
  m: startMerging,
  x: splitOff,
  v: startMoving,
  d: removeMention,
  a: addSelected,
  s: () => startAssigning("speaker"),
  S: () => startAssigning("addressee"),
  u: undo,
  U: redo,
  t: turnTheme,
  "?": () => byId("keys").showModal(),
  Escape: escape,
};
const withControl = { z: undo, Z: redo, y: redo };

function pressKey(event) {
  if (event.altKey) return;
  if (event.target.closest("input, select, textarea, dialog[open], [popover]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = (event.ctrlKey || event.metaKey ? withControl : keys)[event.key];
  if (!act) return;
  event.preventDefault();
  hideTip();
  act();
}

function start() {
  const { title, chapters, record, trace: packed } = JSON.parse(byId("data").textContent);
  byId("data").remove();
  const parts = [setUpText, setUpCast, setUpChapters, setUpDetails, setUpCorrections, setUpStrips, setUpMemory, setUpNetwork];
  for (const setUp of [...parts, setUpSearch, setUpExports, setUpAutosave]) setUp();
  addEventListener("keydown", pressKey);
  byId("theme").addEventListener("click", turnTheme);
  byId("help").addEventListener("click", keys["?"]);
  byId("keys-close").addEventListener("click", () => byId("keys").close());
  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", redo);
  state.trace = packed ? { packed } : null;
  byId("tab-memory").hidden = !state.trace;
  openDocument(unpacked(record), chapters ?? null);
  setTitle(title || titleOf(state.doc.text) || record.id || openingOf(state.doc.text) || "Untitled");
  restore();
  showAll();
  const theme = stored("longcoref-theme");
  if (theme) setTheme(theme);
  setUpAddress();
  follow();
}

start();
