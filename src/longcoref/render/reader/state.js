// The state of the page. Its parts change it through the functions here and are notified by topic: opened (another document),
// document (mentions or entities changed, and perhaps the selection), selection, current (mention or quotation), filters,
// scroll, resize, theme, saved (the corrections are in a file), drawn (the blocks in the tree changed).

const state = {
  doc: null,
  growing: false, // whether the text is still being read
  blocks: [],
  found: null, // the chapters that longcoref found
  chapters: [], // those that are shown
  trace: null,
  selected: null, // an entity
  current: null, // a mention
  quote: null, // a quotation; current is then null
  least: 2,
  onlyTypes: new Set(), // empty: all
  onlyKinds: new Set(),
  voices: true, // whether quotations have the colours of their speakers
  query: "",
  picking: null, // what happens with the entity that is chosen next
  done: [], // the changes that undo the corrections, the last one at the end
  undone: [], // those that redo them
  saved: true, // whether all corrections are in a file
};

const listeners = new Map();

function on(topics, listener) {
  for (const topic of topics.split(" ")) listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
}

function tell(topic) {
  for (const listener of listeners.get(topic) ?? []) listener();
}

/** A function that does something before the next frame, once however often it is called. */
function beforeFrame(act) {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      act();
    });
  };
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
  return entity.mentions.length >= state.least && (!state.onlyTypes.size || state.onlyTypes.has(typeOf(entity)));
}

/** Whether a quotation is highlighted. Those of the selected entity always are, and so is the current one. */
function isHeard(quote) {
  return state.voices || quote === state.quote || Boolean(quote.speaker && quote.speaker === state.selected);
}

/** Whether a mention is drawn. Those of the selected entity always are. */
function isShown({ entity, kind }) {
  if (!entity) return false;
  return entity === state.selected || (isListed(entity) && (!state.onlyKinds.size || state.onlyKinds.has(kind)));
}

/** Opens a document: a record, and the chapters of its text if they are known. */
function openDocument(record, chapters = null) {
  const doc = documentOf(record);
  const most = doc.cast[0]?.mentions.length ?? 0;
  const blocks = blocksOf(doc.text);
  Object.assign(state, {
    doc,
    blocks,
    found: chapters,
    chapters: chaptersOf(doc, blocks, chapters),
    selected: null,
    current: null,
    quote: null,
    least: Math.min(2, Math.max(1, most)),
    done: [],
    undone: [],
    saved: true,
    picking: null,
  });
  state.onlyTypes.clear();
  state.onlyKinds.clear();
  tell("opened");
}

function select(entity, mention = null, quote = null) {
  if (state.picking && entity) {
    finishPicking(entity);
    return;
  }
  state.selected = entity;
  state.current = mention;
  state.quote = quote;
  tell("selection");
}

/**
 * Has the next entity that is chosen, in the cast, the text or the network, passed to a function instead of selected.
 * `others` are other answers: [label, value].
 */
function startPicking(prompt, take, ...others) {
  state.picking = take;
  const actions = others.map(([label, value]) => [label, () => finishPicking(value)]);
  announce(`${prompt} Choose in the cast or the text.`, { lasting: true, actions: [...actions, ["Cancel", cancelPicking]] });
  showPanel("people");
  showCast(true);
  byId("cast-rows").querySelector("button")?.focus({ preventScroll: true });
}

function finishPicking(entity) {
  const take = state.picking;
  cancelPicking();
  take(entity);
}

function cancelPicking() {
  state.picking = null;
  announce("");
  showCast(false);
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

/** Carries out a person's decision; returns whether it could. */
function decide(decision) {
  if (state.growing) {
    announce("Corrections are possible once the whole text has been read");
    return false;
  }
  const change = changeOf(state.doc, decision);
  state.done.push(apply(state.doc, change));
  state.undone = [];
  afterCorrection(change.label);
  return true;
}

function undo() {
  turnBack(state.done, state.undone, "Undone");
}

function redo() {
  turnBack(state.undone, state.done, "Redone");
}

function turnBack(source, target, what) {
  const change = source.pop();
  if (!change) return;
  target.push(apply(state.doc, change));
  afterCorrection(`${what}: ${change.label}`);
}

function undoAll() {
  const count = state.done.length;
  while (state.done.length) state.undone.push(apply(state.doc, state.done.pop()));
  afterCorrection(`Undone: ${counted(count, "correction")}`);
}

function afterCorrection(message) {
  state.saved = false;
  if (state.selected && !state.selected.mentions.length) state.selected = null;
  if (state.current && (!state.current.entity || (state.selected && state.current.entity !== state.selected))) state.current = null;
  tell("document");
  announce(message);
}

/** Shows a message, also to screen readers, for some seconds or until the next one. Actions are buttons: [label, function]. */
function announce(message, { lasting = false, actions = [] } = {}) {
  const banner = byId("banner");
  banner.replaceChildren(message, ...actions.map(([label, act]) => action(label, "", act)));
  banner.hidden = !message;
  clearTimeout(announce.timer);
  if (!lasting) announce.timer = setTimeout(() => (banner.hidden = true), 5000);
}

/** A button. */
function action(label, title, act) {
  const button = make("button", { type: "button", title }, label);
  button.addEventListener("click", act);
  return button;
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
