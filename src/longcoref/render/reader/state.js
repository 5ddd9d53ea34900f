// The state of the page. Its parts change it through the functions here and are notified by topic: document (mentions or
// entities changed, and perhaps the selection), selection, current (mention or quotation), filters, scroll, resize, drawn (the
// blocks in the tree changed).

const state = {
  doc: null,
  blocks: [],
  trace: null,
  selected: null, // an entity
  current: null, // a mention
  quote: null, // a quotation; current is then null
  least: 2,
  hiddenTypes: new Set(),
  hiddenKinds: new Set(),
  query: "",
  merging: false,
  undo: [],
  saved: true,
};

const listeners = new Map();

function on(topics, listener) {
  for (const topic of topics.split(" ")) listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
}

function tell(topic) {
  for (const listener of listeners.get(topic) ?? []) listener();
}

function byId(id) {
  return document.getElementById(id);
}

/** Creates an element with properties and children; strings become text nodes. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function say(message) {
  byId("live").textContent = message;
}

function typeOf(entity) {
  return entity.type ?? "none";
}

function isListed(entity) {
  return entity.mentions.length >= state.least && !state.hiddenTypes.has(typeOf(entity));
}

/** Whether a quotation is highlighted. Those of the selected entity always are. */
function isHeard({ speaker }) {
  return !state.hiddenKinds.has("QUOTE") || Boolean(speaker && speaker === state.selected);
}

/** Whether a mention is drawn. Those of the selected entity always are. */
function isShown({ entity, kind }) {
  if (!entity) return false;
  return entity === state.selected || (isListed(entity) && !state.hiddenKinds.has(kind));
}

function openDocument(record) {
  const doc = documentOf(record);
  const most = doc.cast[0]?.mentions.length ?? 0;
  Object.assign(state, {
    doc,
    blocks: blocksOf(doc.text),
    selected: null,
    current: null,
    quote: null,
    least: Math.min(2, Math.max(1, most)),
    undo: [],
    saved: true,
    merging: false,
  });
  state.hiddenTypes.clear();
  state.hiddenKinds.clear();
  byId("least").value = state.least;
}

function select(entity, mention = null, quote = null) {
  if (state.merging && entity && entity !== state.selected) {
    finishMerging(entity);
    return;
  }
  state.selected = entity;
  state.current = mention;
  state.quote = quote;
  tell("selection");
}

/** Goes to the next (1) or previous (-1) mention of the selected entity, or of any entity if none is selected. */
function step(direction) {
  const { selected, current, quote, doc } = state;
  const among = selected ? selected.mentions : doc.mentions.filter(isShown);
  goTo(next(among, current ?? before(doc.mentions, quote?.from, direction), direction));
}

/** The same for quotations, of the selected entity or of any. */
function stepQuote(direction) {
  const { selected, current, quote, doc } = state;
  const among = selected ? selected.quotes : doc.quotes.filter((one) => !one.continues && isHeard(one));
  goToQuote(next(among, quote ?? before(doc.quotes, current?.from, direction), direction));
}

/** Where to step from if nothing is current: a place in the text, or else the top of the view. */
function before(spans, place = visibleRange().from, direction) {
  return { index: lowerBound(spans, place, (span) => span.from) - (direction > 0 ? 1 : 0) };
}

/** The span after (1) or before (-1) another one; the first follows the last. */
function next(among, { index }, direction) {
  const place = direction > 0 ? lowerBound(among, index + 1, (span) => span.index) : lowerBound(among, index, (span) => span.index) - 1;
  return among.at(place % among.length);
}

/** Makes a mention the current one and scrolls to it. */
function goTo(mention) {
  if (!mention) return;
  [state.current, state.quote] = [mention, null];
  showSpan("mention", mention);
  tell("current");
  const { entity } = mention;
  say(`${entity.name}, mention ${entity.mentions.indexOf(mention) + 1} of ${entity.mentions.length}: ${context(mention)}`);
}

/** Makes a quotation the current one and scrolls to it. */
function goToQuote(quote) {
  if (!quote) return;
  [state.current, state.quote] = [null, quote];
  showSpan("quote", quote);
  tell("current");
  say(`${voices(quote)}${quotePlace(quote)}: ${oneLine(state.doc.text.slice(quote.from, quote.to))}`);
}

/** The speaker and the addressee of a quotation, as text. */
function voices({ speaker, addressee }) {
  const [who, whom] = [present(speaker), present(addressee)];
  return `${who ? oneLine(who.name) : "Unknown speaker"}${whom ? ` to ${oneLine(whom.name)}` : ""}`;
}

/** Which of its speaker's quotations it is, as text. */
function quotePlace(quote) {
  if (quote.continues) return ", continued";
  const own = present(quote.speaker)?.quotes;
  return own ? `, quotation ${own.indexOf(quote) + 1} of ${own.length}` : "";
}

function context({ from, to }) {
  const { text } = state.doc;
  return oneLine(`${text.slice(Math.max(0, from - 40), from)}${text.slice(from, to)}${text.slice(to, to + 40)}`);
}

function correct(change) {
  state.undo.push(apply(state.doc, change));
  afterCorrection(change.label);
}

function undo() {
  const change = state.undo.pop();
  if (!change) return;
  apply(state.doc, change);
  afterCorrection(`Undone: ${change.label}`);
}

function afterCorrection(message) {
  state.saved = false;
  if (state.selected && !state.selected.mentions.length) state.selected = null;
  if (state.current && (!state.current.entity || (state.selected && state.current.entity !== state.selected))) state.current = null;
  if (state.selected && state.quote?.speaker !== state.selected) state.quote = null;
  tell("document");
  announce(message);
}

/** Shows a message, also to screen readers, for some seconds or until the next one. */
function announce(message, lasting = false) {
  const banner = byId("banner");
  banner.textContent = message;
  banner.hidden = !message;
  clearTimeout(announce.timer);
  if (!lasting) announce.timer = setTimeout(() => (banner.hidden = true), 5000);
}

function startMerging() {
  if (!state.selected) return;
  state.merging = true;
  announce(`Merge ${state.selected.name} with which entity? Choose it in the cast or the text. Esc cancels.`, true);
}

function finishMerging(other) {
  state.merging = false;
  correct(merging(state.doc, state.selected, other));
}
