// Sets up the page: keys, theme, files, and the first document.

function download() {
  const blob = new Blob([JSON.stringify(recordOf(state.doc)), "\n"], { type: "application/json" });
  const link = make("a", { href: URL.createObjectURL(blob), download: `${fileName()}.corrected.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  state.saved = true;
}

function fileName() {
  return (state.doc.rest.id || document.title).replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 80) || "text";
}

async function openFile({ target }) {
  const [file] = target.files;
  target.value = "";
  if (!file) return;
  try {
    const record = validated(JSON.parse(await file.text()), state.doc.text);
    if (!mayReplaceDocument()) return;
    if (record.text !== state.doc.text) state.trace = null;
    openDocument(record);
    byId("tab-memory").hidden = !state.trace;
    showAll();
    announce(`Opened ${file.name}`);
  } catch (error) {
    announce(`Cannot open ${file.name}: ${error.message}`);
  }
}

/** Asks before corrections are lost. */
function mayReplaceDocument() {
  return state.saved || confirm("Your corrections have not been downloaded. Discard them?");
}

function showAll() {
  redraw(); // first, because the new text may have fewer blocks than are drawn
  find();
  tell("document");
  if (!state.trace) showStrip("timeline");
}

function turnTheme() {
  setTheme(isDark() ? "light" : "dark");
  try {
    localStorage.setItem("longcoref-theme", isDark() ? "dark" : "light");
  } catch {
    // A page opened from a file may have no storage; the theme is then forgotten when it is closed.
  }
}

function setTheme(theme) {
  document.documentElement.style.colorScheme = theme;
  drawStrips();
}

function storedTheme() {
  try {
    return localStorage.getItem("longcoref-theme");
  } catch {
    return null;
  }
}

function escape() {
  if (state.merging) {
    state.merging = false;
    announce("");
  } else {
    showCast(false);
    select(null);
  }
}

const keys = {
  n: () => step(1),
  ArrowRight: () => step(1),
  p: () => step(-1),
  ArrowLeft: () => step(-1),
  q: () => stepQuote(1),
  Q: () => stepQuote(-1),
  "/": () => byId("query").focus(),
  r: () => byId("name")?.select(),
  m: startMerging,
  x: splitOff,
  u: undo,
  t: turnTheme,
  "?": () => byId("keys").showModal(),
  Escape: escape,
};

function pressKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, dialog[open]")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  hideTip();
  act();
}

function start() {
  const { record, trace: packed } = JSON.parse(byId("data").textContent);
  byId("data").remove();
  openDocument(unpacked(record));
  state.trace = packed ? { packed } : null;
  for (const setUp of [setUpText, setUpCast, setUpDetails, setUpStrips, setUpMemory, setUpSearch]) setUp();
  addEventListener("keydown", pressKey);
  byId("theme").addEventListener("click", turnTheme);
  byId("help").addEventListener("click", keys["?"]);
  byId("keys-close").addEventListener("click", () => byId("keys").close());
  byId("undo").addEventListener("click", undo);
  byId("download").addEventListener("click", download);
  byId("file").addEventListener("change", openFile);
  on("document", () => (byId("undo").disabled = !state.undo.length));
  addEventListener("beforeunload", (event) => {
    if (!state.saved) event.preventDefault();
  });
  showAll();
  const theme = storedTheme();
  if (theme) setTheme(theme);
}

start();
