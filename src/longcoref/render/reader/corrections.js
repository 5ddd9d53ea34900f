// What a person does to correct the document: each starts a decision, and asks for the entity that it needs.

function startMerging() {
  const { selected, doc } = state;
  if (!selected) return;
  startPicking(`Merge ${oneLine(selected.name)} with which entity?`, (other) => {
    if (other === selected) return;
    const decision = merging(selected, other);
    if (decide(decision)) select(entityAt(doc, decision.entity));
  });
}

function rename(entity, name) {
  decide({ decision: "name", entity: placeFor(entity), name });
}

function retype(entity, type) {
  decide({ decision: "type", entity: placeFor(entity), type });
}

/** Moves mentions of an entity to another one; null makes a new one. Selects where they are then. */
function move(mentions, entity) {
  const places = mentions.map(({ start, end }) => [start, end]);
  const from = placeFor(mentions[0].entity, mentions);
  if (decide({ decision: "move", mentions: places, from, to: entity && placeFor(entity) })) select(mentions[0].entity, mentions[0]);
}

function remove(mentions) {
  decide({ decision: "remove", mentions: mentions.map(({ start, end }) => [start, end]) });
}

function splitOff() {
  if (state.current?.entity.mentions.length > 1) move([state.current], null);
}

function startMoving() {
  const mention = state.current;
  if (!mention) return;
  const take = (entity) => entity !== mention.entity && move([mention], entity);
  const others = mention.entity.mentions.length > 1 ? [["A new one", null]] : [];
  startPicking(`To which entity does “${oneLine(mention.text)}” belong?`, take, ...others);
}

function removeMention() {
  if (state.current) remove([state.current]);
}

/** Makes words of the text a mention of an entity, or of a new one, and selects it. */
function addMention({ start, end, text }, entity) {
  const places = { mentions: [[start, end]], from: null, to: entity && placeFor(entity) };
  if (!decide({ decision: "move", ...places, kind: kindOfWords(text) })) return;
  const mention = spanAt(state.doc, [start, end]);
  select(mention.entity, mention);
}

function startAdding(words) {
  startPicking(`To which entity does “${oneLine(words.text)}” belong?`, (entity) => addMention(words, entity), ["A new one", null]);
}

/** Changes the speaker or the addressee of the current quotation. */
function startAssigning(role) {
  const { quote } = state;
  if (!quote) return;
  const assign = (entity) => {
    const [{ start, end }] = paragraphsOf(state.doc, quote);
    const isDone = decide({ decision: role, quote: [start, end], entity: entity && placeFor(entity) });
    if (isDone) select(present(quote.speaker), null, quote);
  };
  startPicking({ speaker: "Who says this?", addressee: "To whom is this said?" }[role], assign, ["Unknown", null]);
}

// Words are made a mention by selecting them in the text: a button appears next to them.

const adder = byId("add");

/** The selected words of the text, widened to whole words: offsets in code points and the text; null if there are none. */
function selectedWords() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const [from, to] = [placeOf(range.startContainer, range.startOffset), placeOf(range.endContainer, range.endOffset)];
  if (from === null || to === null || !state.doc.text.slice(from, to).trim()) return null;
  return wholeWords(state.doc, from, to);
}

function wholeWords(doc, from, to) {
  const chosen = doc.text.slice(from, to);
  const start = doc.toPoint(from + chosen.length - chosen.trimStart().length);
  const end = doc.toPoint(to - (chosen.length - chosen.trimEnd().length));
  const { words } = doc.rest;
  if (!words) return null;
  const first = lowerBound(words, start + 1, ([begin]) => begin) - 1;
  const last = lowerBound(words, end, ([begin]) => begin) - 1;
  if (first < 0 || last < first || words[first][1] <= start) return null;
  const [begin, finish] = [words[first][0], words[last][1]];
  return { start: begin, end: finish, text: doc.text.slice(doc.toUnit(begin), doc.toUnit(finish)) };
}

/** The place in the text of a point in the tree; null if it is not in the text. */
function placeOf(node, offset) {
  const element = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest(".block");
  if (!element) return null;
  const range = document.createRange();
  range.setStart(element, 0);
  range.setEnd(node, offset);
  return state.blocks[element.dataset.block].from + range.toString().length;
}

function hasMention({ mentions, toUnit }, { start, end }) {
  const same = within(mentions, { from: toUnit(start), to: toUnit(end) });
  return same.some((mention) => mention.entity && mention.start === start && mention.end === end);
}

function offerToAdd() {
  const words = state.growing ? null : selectedWords();
  adder.hidden = !words || hasMention(state.doc, words);
  if (adder.hidden) return;
  const { selected } = state;
  adder.replaceChildren(
    ...(selected ? [offer(`Mention of ${oneLine(selected.name).slice(0, 30)}`, "Add the selected words to the selected entity", () => addMention(words, selected))] : []),
    offer(selected ? "of another…" : "Mention of…", "Add the selected words to an entity (a)", () => startAdding(words)),
    offer("of a new entity", "Make the selected words a new entity", () => addMention(words, null)),
  );
  const { left, bottom } = getSelection().getRangeAt(0).getBoundingClientRect();
  adder.style.left = `${Math.max(8, Math.min(left, innerWidth - adder.offsetWidth - 8))}px`;
  adder.style.top = `${Math.min(bottom + 8, innerHeight - adder.offsetHeight - 8)}px`;
}

function offer(label, title, act) {
  return action(label, title, () => {
    adder.hidden = true;
    getSelection().removeAllRanges();
    act();
  });
}

/** Makes the selected words a mention, of an entity that is then chosen. */
function addSelected() {
  const words = selectedWords();
  if (words && !hasMention(state.doc, words)) startAdding(words);
}

function setUpCorrections() {
  let waiting = 0;
  document.addEventListener("selectionchange", () => {
    clearTimeout(waiting);
    waiting = setTimeout(offerToAdd, 150); // while the selection is being dragged, it changes all the time
  });
  adder.addEventListener("pointerdown", (event) => event.preventDefault()); // the words stay selected
  view.addEventListener("scroll", () => (adder.hidden = true));
}
