// What the page gives: the corrected result, the cast and the quotations as tables, the network as a picture.

function saveFile(text, ending, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: `${fileName()}${ending}` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function fileName() {
  return (state.doc.rest.id || document.title).replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 80) || "text";
}

function download() {
  saveFile(`${JSON.stringify(recordOf(state.doc, state.done.map(({ decision }) => decision)))}\n`, ".corrected.json", "application/json");
  state.saved = true;
  tell("saved");
}

/** Rows of values as CSV, with the byte order mark that spreadsheets need to read it as UTF-8. */
function csv(rows) {
  const cell = (value) => (/[",\r\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return `\ufeff${rows.map((row) => row.map((value) => cell(value ?? "")).join(",")).join("\r\n")}\r\n`;
}

function castTable() {
  const header = ["id", "name", "type", "mentions", "quotations", "first_word", "last_word", "wordings"];
  return [header, ...state.doc.cast.map((entity) => {
    const { id, name, type, mentions, quotes } = entity;
    const wordings = wordingsOf(mentions.filter(({ kind }) => kind !== "PRON")).map(([text]) => text);
    return [id, oneLine(name), type, mentions.length, quotes.length, wordAt(mentions[0].from), wordAt(mentions.at(-1).from), wordings.join("; ")];
  })];
}

function quoteTable() {
  const nameOrNone = (entity) => (present(entity) ? oneLine(entity.name) : "");
  const rows = state.doc.quotes.map(({ start, end, from, to, speaker, addressee }) =>
    [start, end, nameOrNone(speaker), nameOrNone(addressee), oneLine(state.doc.text.slice(from, to))]);
  return [["start", "end", "speaker", "addressee", "quotation"], ...rows];
}

async function openFile({ target }) {
  const [file] = target.files;
  target.value = "";
  if (!file) return;
  byId("export").hidePopover();
  try {
    const record = validated(JSON.parse(await file.text()), state.doc.text);
    if (!mayReplaceDocument()) return;
    const isSame = record.text === state.doc.text;
    if (!isSame) state.trace = null;
    openDocument(record, isSame ? state.found : null);
    restore();
    byId("tab-memory").hidden = !state.trace;
    showAll();
    announce(`Opened ${file.name}`);
  } catch (error) {
    announce(`Cannot open ${file.name}: ${error.message}`);
  }
}

function setUpExports() {
  const menu = byId("export");
  const table = "text/csv;charset=utf-8";
  const items = {
    download,
    "undo-all": undoAll,
    "save-cast": () => saveFile(csv(castTable()), ".cast.csv", table),
    "save-quotes": () => saveFile(csv(quoteTable()), ".quotations.csv", table),
    "save-network": saveNetwork,
    "copy-link": copyLink,
    print: () => print(),
  };
  for (const [id, act] of Object.entries(items)) {
    byId(id).addEventListener("click", () => {
      menu.hidePopover();
      act();
    });
  }
  menu.addEventListener("toggle", ({ newState }) => {
    const { right, bottom } = byId("open-export").getBoundingClientRect();
    menu.style.left = `${Math.max(8, Math.min(right - menu.offsetWidth, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${bottom + 6}px`;
    byId("save-quotes").hidden = !state.doc.quotes.length;
    if (newState === "open") menu.querySelector("button:enabled").focus();
  });
  byId("network-save").addEventListener("click", saveNetwork);
  byId("file").addEventListener("change", openFile);
}

function saveNetwork() {
  saveFile(networkFile(), ".network.svg", "image/svg+xml");
}
