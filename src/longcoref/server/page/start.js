
// The server's page: sends a text to the server, and shows the result in the reader as it grows.

const SAMPLE = `The ferry was late, and Nora Finch had already counted the gulls twice. Beside her old Mr. Pell slept on his \
suitcase, as he had slept through most of the winter.

"Is it coming?" asked the boy from the bakery. He had a loaf under his arm that was meant for the captain, and he had been \
told not to eat it.

"She always comes," said Nora. She meant the captain, not the boat, and the boy knew it. Captain Rook had never missed a \
crossing, not even the year her brother drowned.

Mr. Pell opened one eye. "My wife used to say that Rook could smell the harbour," he said. "She would stand on this very \
pier and wait for her."

Then the horn sounded from the fog. The boy held out the loaf, Nora picked up the old man's suitcase, and the three of \
them walked down to the water together.
`;

const REST = 10; // the growing result is redrawn after this many times the duration of the last redraw

/** The response so far, as a record that the reader can open. */
class Growth {
  constructor(text) {
    this.record = { schema: SCHEMA, text, clusters: [] };
    this.clusters = new Map();
    this.decisions = [];
    this.invalid = 0;
    this.read = 0;
    this.whole = false;
    this.colours = new Map(); // kept from the first mention to the final result
    this.chapters = null;
  }

  take(line) {
    if (line.error) throw new Error(line.error.detail);
    if (line.schema) Object.assign(this.record, { id: line.id, model: line.model, memory: line.memory });
    else if (line.mention) this.mention(line);
    else if (line.closed) this.close(line.closed);
    else if (line.progress) this.read = line.progress.characters;
    else if (line.action) this.decide(line);
    else if (line.document) this.known(line.document);
    else if (line.result) this.finish(line.result);
  }

  cluster(id) {
    if (!this.clusters.has(id)) {
      const cluster = { id, name: null, type: null, mentions: [] };
      this.clusters.set(id, cluster);
      this.record.clusters.push(cluster);
    }
    return this.clusters.get(id);
  }

  mention({ mention, cluster: id }) {
    const cluster = this.cluster(id);
    cluster.mentions.push(mention);
    cluster.type ??= mention.type ?? null; // provisional: the line that closes the cluster has the type of most mentions
  }

  close({ id, name, type }) {
    const cluster = Object.assign(this.cluster(id), { name, type });
    for (const mention of cluster.mentions) if (mention.type === type) delete mention.type;
  }

  /** Takes the words, the sentences and the chapters of the whole text. */
  known({ words, sentences, chapters }) {
    Object.assign(this.record, { words, sentences });
    this.chapters = chapters;
  }

  /** Takes the final result, in which post-processing may have merged entities. */
  finish(result) {
    Object.assign(this.record, result);
    this.whole = true;
  }

  decide({ start, end, action, cell, cluster, evicted, mention_score: mentionScore, links }) {
    if (action === "invalid") this.invalid++;
    else this.decisions.push({ start, end, action, cell: cell ?? -1, entity: cluster ?? -1, evicted: evicted ?? -1, mentionScore, bestLink: links[0]?.score ?? null });
  }
}

let reading = null; // the request in progress
let growth = null;

/** The lines of a response as they arrive. */
async function* linesOf(response) {
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) yield JSON.parse(line);
  }
}

async function readText(text, title, memory) {
  const request = (reading = new AbortController());
  byId("reading").hidden = false;
  tellProgress("Waiting in the queue");
  const began = performance.now();
  try {
    const response = await fetch("v1/resolve", {
      method: "POST",
      headers: { "Content-Type": "application/json", ...authorization() },
      body: JSON.stringify({ text, id: title, ...memory, stream: true, trace: true }),
      signal: request.signal,
    });
    if (response.status === 401) askForToken();
    if (!response.ok) throw new Error(await reasonOf(response));
    openGrowing(text, title);
    await take(response);
    if (!growth.whole) throw new Error("the connection was lost before the end of the response");
    openResult();
    if (!state.doc.cast.some(isListed)) showAllEntities();
    if (!state.done.length) announce(`Read in ${((performance.now() - began) / 1000).toFixed(1)} s: ${growth.record.clusters.length} entities`);
  } catch (error) {
    stopped(error);
  } finally {
    byId("reading").hidden = true;
    setGrowing(false);
    reading = null;
    dim();
  }
}

function authorization() {
  const token = byId("start-token").value.trim();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Shows the field for the token that this server requires. */
function askForToken() {
  byId("start-token-label").hidden = false;
  byId("start-token").focus();
}

async function reasonOf(response) {
  try {
    const { detail } = await response.json();
    return typeof detail === "string" ? detail : detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join("; ");
  } catch {
    return `the server responded with status ${response.status}`;
  }
}

function setGrowing(growing) {
  state.growing = growing;
  document.body.classList.toggle("growing", growing);
}

/** Opens the text, without any entities yet. */
function openGrowing(text, title) {
  growth = new Growth(text);
  state.trace = null;
  setTitle(title);
  openDocument(growth.record);
  state.least = 2;
  byId("tab-memory").hidden = true;
  setGrowing(true);
  byId("start").close();
  showAll();
  view.scrollTop = 0;
}

/** Lists entities with a single mention, for a text that has no others. */
function showAllEntities() {
  state.least = byId("least").value = 1;
  tell("filters");
}

async function take(response) {
  let next = 0;
  for await (const line of linesOf(response)) {
    growth.take(line);
    if (!line.progress) continue;
    const share = growth.read / (line.progress.of || 1);
    tellProgress(`${Math.floor(100 * share)} % read, ${growth.record.clusters.length} entities`, share);
    if (performance.now() < next) continue;
    const started = performance.now();
    show();
    next = performance.now() + REST * (performance.now() - started);
    // Lines that have already arrived would be processed without a pause, and nothing would be drawn.
    await new Promise(requestAnimationFrame);
  }
}

/** Shows the result so far, and keeps the selection. */
function show() {
  const chosen = state.selected?.id;
  state.doc = documentOf(growth.record, growth.colours);
  state.selected = state.doc.cast.find(({ id }) => id === chosen) ?? null;
  state.current = state.quote = null;
  state.trace = { unpacked: historyOf(growth.decisions, growth.invalid) };
  byId("tab-memory").hidden = false;
  tell("document");
}

/** Shows the final result, with the corrections that were made the last time that this text was read. */
function openResult() {
  show();
  state.found = growth.chapters;
  state.chapters = chaptersOf(state.doc, state.blocks, growth.chapters);
  restore();
  resetRange();
  tell("document");
}

function tellProgress(note, share = 0) {
  byId("reading-note").textContent = note;
  byId("reading-bar").value = share;
}

/** Dims the part of the text that has not been read. */
function dim() {
  const partly = growth && !growth.whole && state.doc.text === growth.record.text;
  const read = partly ? state.doc.toUnit(growth.read) : Infinity;
  for (const [number, element] of drawn) element.classList.toggle("unread", state.blocks[number].from >= read);
}

function stopped(error) {
  const wanted = error.name === "AbortError";
  if (growth && state.growing) {
    show();
    restore();
    tell("document");
    announce(wanted ? "Stopped. These are the results so far." : `Incomplete: ${error.message}`, { lasting: !wanted });
  } else if (!wanted) {
    complain(error.message);
  }
}

function complain(message) {
  byId("start-error").textContent = message;
  byId("start-error").hidden = !message;
  if (!byId("start").open) byId("start").showModal();
}

function setText(text, title = "") {
  byId("start-text").value = text;
  byId("start-text").dataset.title = title;
  complain("");
  byId("start-read").disabled = !text.trim();
}

async function takeFile(file) {
  try {
    setText(new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer()), file.name.replace(/\.\w+$/, "").slice(0, 200));
  } catch {
    complain(`${file.name} is not text in UTF-8: save it as plain text first`);
  }
}

function submit(event) {
  event.preventDefault();
  if (reading || !mayReplaceDocument()) return;
  const field = byId("start-text");
  const policy = byId("start-memory").value;
  const memory = policy === "unbounded" ? { memory: policy } : { memory: policy, cells: Number(byId("start-cells").value) };
  complain("");
  readText(field.value, titleOf(field.value) || field.dataset.title || openingOf(field.value), memory);
}

function setUpStart() {
  const dialog = byId("start");
  const again = make("button", { type: "button", id: "another", title: "Read another text" }, "New");
  again.addEventListener("click", () => dialog.showModal());
  document.querySelector(".tools").prepend(again);
  byId("start-form").addEventListener("submit", submit);
  byId("start-text").addEventListener("input", ({ target }) => setText(target.value));
  byId("start-text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("start-form").requestSubmit(byId("start-read"));
  });
  byId("start-sample").addEventListener("click", () => setText(SAMPLE, "The ferry"));
  byId("start-file").addEventListener("change", ({ target }) => target.files[0] && takeFile(target.files[0]));
  byId("start-memory").addEventListener("change", ({ target }) => {
    byId("start-cells-label").hidden = byId("start-cells").disabled = target.value === "unbounded";
  });
  byId("reading-stop").addEventListener("click", () => reading?.abort());
  // Before the first text there is nothing behind the dialog.
  dialog.addEventListener("cancel", (event) => growth || event.preventDefault());
  dialog.addEventListener("close", () => growth || dialog.showModal());
  for (const type of ["dragover", "dragleave", "drop"]) {
    addEventListener(type, (event) => {
      event.preventDefault();
      dialog.classList.toggle("over", type === "dragover");
      const file = type === "drop" && event.dataTransfer.files[0];
      if (file && !reading) {
        if (!dialog.open) dialog.showModal();
        takeFile(file);
      }
    });
  }
  on("drawn", dim);
  setText("");
  dialog.showModal();
}

setUpStart();
