// The panel of the selected entity or quotation, with the buttons to correct it, and the tooltips of mentions and quotations.

const details = byId("details");
const tip = byId("tip");
const HINT = "Select an entity in the cast or the text. Then n and p step through its mentions, q through its quotations.";
const HINT_TO_CORRECT = "To correct something, click on it; to add a mention, select its words.";
const MOST_COMPANIONS = 8;
const MOST_WORDINGS = 8;
const ENTITY_TYPES = ["PER", "FAC", "GPE", "LOC", "VEH", "ORG", "EVENT", "TIME", "THING"];

function percent(share) {
  return `${Math.round(share * 100)}\u00a0%`;
}

function renderDetails() {
  const entity = state.selected;
  details.classList.toggle("empty", !entity && !state.quote);
  details.classList.toggle("chosen-entity", Boolean(entity));
  if (!entity) {
    details.replaceChildren(...(state.quote ? [closeButton(), make("div", { id: "mention-box" }, ...quoteParts(state.quote))] : guide()));
    return;
  }
  details.style.setProperty("--hue", entity.hue);
  details.replaceChildren(
    make("div", { className: "head" }, nameField(entity), closeButton()),
    typeField(entity),
    make("p", { className: "note" }, summary(entity)),
    stepper("step", "mention", "n", "p", step),
    ...(entity.quotes.length ? [stepper("step-quote", "quotation", "q", "Q", stepQuote)] : []),
    make("div", { id: "mention-box" }),
    wordings(entity),
    companions(entity),
    make(
      "div",
      { className: "actions" },
      action("Merge with…", "Merge with another entity (m)", startMerging),
      action("Remove entity", "Remove all its mentions", () => remove(entity.mentions)),
    ),
  );
  renderCurrent();
}

/** What is shown while nothing is selected: what to do, what the marks mean, and where the result is from. */
function guide() {
  const notes = (lines) => lines.map((line) => make("p", { className: "note" }, line));
  const legend = byId("legend").cloneNode(true);
  legend.removeAttribute("id");
  legend.ariaLabel = "Legend";
  return [...notes([HINT, HINT_TO_CORRECT]), legend, ...notes(provenance())];
}

/** The size of the document, and the model and memory that it comes from. */
function provenance() {
  const { cast, quotes, rest } = state.doc;
  const mentions = cast.reduce((sum, entity) => sum + entity.mentions.length, 0);
  const lines = [`${counted(mentions, "mention")} of ${cast.length === 1 ? "1 entity" : `${cast.length} entities`}.`];
  if (quotes.length) lines.push(`${counted(quotes.filter(({ continues }) => !continues).length, "quotation")}.`);
  if (rest.model) lines.push(`Model: ${rest.model}.`);
  if (rest.memory) lines.push(`Memory: ${rest.memory.policy}${rest.memory.capacity ? `, ${rest.memory.capacity} cells` : ""}.`);
  return lines;
}

/** The current mention or quotation, if it is the selected entity's. */
function renderCurrent() {
  const { selected, current, quote } = state;
  const isOurs = current?.entity === selected;
  byId("step").textContent = placeIn(selected.mentions, current);
  if (selected.quotes.length) byId("step-quote").textContent = placeIn(selected.quotes, quote);
  byId("mention-box").replaceChildren(...(isOurs ? mentionParts(current) : quote?.speaker === selected ? quoteParts(quote) : []));
}

function placeIn(spans, span) {
  return `${spans.indexOf(span) + 1 || "–"} of ${spans.length}`;
}

function closeButton() {
  const button = action("✕", "Clear the selection (Esc)", () => select(null));
  button.className = "close";
  button.ariaLabel = "Clear the selection";
  return button;
}

function nameField(entity) {
  const input = make("input", { id: "name", value: oneLine(entity.name), maxLength: LONGEST_NAME, autocomplete: "off" });
  input.setAttribute("aria-label", "Name");
  input.addEventListener("change", () => {
    const name = input.value.trim();
    if (name && name !== entity.name) rename(entity, name);
    else input.value = oneLine(entity.name);
  });
  return input;
}

function typeField(entity) {
  const known = new Set([...ENTITY_TYPES, ...state.doc.entities.map(({ type }) => type)].filter(Boolean));
  const field = make("select", { id: "type" }, make("option", { value: "" }, "no type"));
  field.setAttribute("aria-label", "Type");
  field.append(...[...known].map((type) => make("option", { value: type }, TYPES[type] ? `${type} · ${TYPES[type]}` : type)));
  field.value = entity.type ?? "";
  field.addEventListener("change", () => retype(entity, field.value || null));
  return field;
}

function summary({ mentions }) {
  const { length } = state.doc.text;
  const kinds = tally(mentions.filter(({ kind }) => kind).map(({ kind }) => KINDS[kind] ?? kind));
  const places = `from ${percent(mentions[0].from / length)} to ${percent(mentions.at(-1).from / length)} of the text`;
  const parts = kinds.map(([kind, count]) => `${count} ${count === 1 ? kind.replace(/s$/, "") : kind}`);
  return `${counted(mentions.length, "mention")}${parts.length ? ` (${parts.join(", ")})` : ""}, ${places}`;
}

/** The wordings of an entity, by kind. Pronouns are counted as the text has them: they are not a claim about gender. */
function wordings(entity) {
  const kinds = new Set([...Object.keys(KINDS), ...entity.mentions.map(({ kind }) => kind)]);
  const groups = (entity.wordings ??= [...kinds].map((kind) => [kind, countedWordings(entity, kind)]));
  const parts = groups.filter(([, all]) => all.length).map(([kind, all]) => [
    make("dt", { className: "note" }, KINDS[kind] ?? kind ?? "wordings"),
    make(
      "dd",
      {},
      ...all.slice(0, MOST_WORDINGS).map(([text, count]) => make("span", {}, text, make("span", { className: "count" }, count > 1 ? ` ${count}` : ""))),
      ...(all.length > MOST_WORDINGS ? [make("span", { className: "note" }, `and ${all.length - MOST_WORDINGS} more`)] : []),
    ),
  ]);
  return make("dl", { className: "wordings", ariaLabel: "Wordings" }, ...parts.flat());
}

/** The wordings of one kind. Except in names, a capital at the beginning of a sentence makes no difference. */
function countedWordings({ mentions }, kind) {
  const own = mentions.filter((mention) => mention.kind === kind);
  if (kind === "PROP") return wordingsOf(own);
  return tally(own.map(({ text }) => (text === "I" ? text : oneLine(text.charAt(0).toLowerCase() + text.slice(1)))));
}

function stepper(id, what, forward, back, go) {
  return make(
    "div",
    { className: "stepper" },
    action("←", `Previous ${what} (${back})`, () => go(-1)),
    make("span", {}, make("output", { id }), ` ${what}s`),
    action("→", `Next ${what} (${forward})`, () => go(1)),
  );
}

function mentionParts(mention) {
  const { entity } = mention;
  const rest = entity.mentions.slice(entity.mentions.indexOf(mention));
  const buttons = [
    action("Move to…", "Move this mention to another entity (v)", startMoving),
    ...(entity.mentions.length > 1 ? [action("Split off", "Make this mention a new entity (x)", splitOff)] : []),
    ...(rest.length > 1 && rest.length < entity.mentions.length
      ? [action("Split from here on", "Make this and all later mentions a new entity", () => move(rest, null))]
      : []),
    action("Remove mention", "Remove this mention (d)", removeMention),
  ];
  return [make("blockquote", {}, oneLine(mention.text)), ...facts(mention), make("div", { className: "actions" }, ...buttons)];
}

function quoteParts(quote) {
  const text = oneLine(state.doc.text.slice(quote.from, quote.to));
  const buttons = [
    action("Speaker…", "Change the speaker (s)", () => startAssigning("speaker")),
    action("Addressee…", "Change the addressee (S)", () => startAssigning("addressee")),
  ];
  return [
    make("blockquote", {}, text.length > 240 ? `${text.slice(0, 240)}…` : text),
    ...(state.selected ? [] : [make("p", { className: "note" }, "Speaker not found")]),
    ...quoteFacts(quote),
    make("div", { className: "actions" }, ...buttons),
  ];
}

/** Those who are most often in the same paragraph; each is a button that goes to the next paragraph with both. */
function companions(entity) {
  const all = isCharacter(entity) ? companionsOf(entity) : [];
  const names = all.slice(0, MOST_COMPANIONS).map(([other, count]) => {
    const title = `Together in ${counted(count, "paragraph")}: go to the next one`;
    const button = action(oneLine(other.name), title, () => goToMeeting(entity, other));
    button.append(make("span", { className: "count" }, ` ${count}`));
    return button;
  });
  const part = make("dl", { className: "companions", ariaLabel: "Together with" });
  if (names.length) part.append(make("dt", { className: "note" }, "together with (paragraphs)"), make("dd", {}, ...names));
  return part;
}

/** Goes to the next paragraph that mentions both; the first follows the last. */
function goToMeeting(entity, other) {
  const places = meetingsOf(state.doc).filter(({ people }) => people.has(entity) && people.has(other));
  const here = state.current?.from ?? visibleRange().from;
  const { from } = places[lowerBound(places, here + 1, (place) => place.from) % places.length];
  goTo(entity.mentions[lowerBound(entity.mentions, from, (mention) => mention.from)]);
}

/** The addressee and the probability, as a paragraph. */
function quoteFacts({ addressee, score, continues }) {
  const whom = present(addressee);
  const said = [whom && `to ${oneLine(whom.name)}`, continues && "continued", score !== undefined && `${percent(score)} sure`];
  return [make("p", { className: "note" }, said.filter(Boolean).join(" · "))];
}

/** Kind, probability and decision of a mention, as paragraphs. */
function facts(mention) {
  const said = [{ PROP: "name", NOM: "description", PRON: "pronoun" }[mention.kind] ?? mention.kind];
  if (mention.type) said.push(mention.type);
  if (mention.score !== undefined) said.push(`${percent(mention.score)} sure`);
  const lines = [said.filter(Boolean).join(" · ")];
  const [quote] = within(state.doc.quotes, mention);
  if (quote) lines.push(`said by ${voices(quote)}`);
  const decision = decisionOn(mention);
  if (decision) lines.push(decisionText(decision));
  return lines.filter(Boolean).map((line) => make("p", { className: "note" }, line));
}

/** Shows the entity of a mention, or the speaker of a quotation, next to a place in the window or else to the start of the span. */
function showTip(span, place = span.getClientRects()[0]) {
  tip.classList.toggle("late", Boolean(span.dataset.quote));
  if (span.dataset.quote) tipOfQuote(quoteOf(span));
  else tipOfMention(mentionOf(span));
  placeTip(place);
}

function tipOfQuote(quote) {
  const speaker = present(quote.speaker);
  tip.style.setProperty("--hue", speaker?.hue ?? 0);
  const heading = make("strong", {}, speaker ? oneLine(speaker.name) : "Speaker not found");
  const note = make("p", { className: "note" }, speaker ? `speaks${quotePlace(quote)}` : "");
  tip.replaceChildren(heading, note, ...quoteFacts(quote));
}

function tipOfMention(mention) {
  const { entity } = mention;
  tip.style.setProperty("--hue", entity.hue);
  const heading = make("strong", {}, oneLine(entity.name));
  const count = entity.mentions.length;
  tip.replaceChildren(heading, make("p", { className: "note" }, `${entity.type ?? "no type"} · ${entity.mentions.indexOf(mention) + 1} of ${count}`), ...facts(mention));
}

/** Places the tooltip next to a rectangle, inside the window. */
function placeTip({ left, top, bottom }) {
  tip.hidden = false;
  const { offsetWidth, offsetHeight } = tip;
  const above = bottom + offsetHeight + 12 > innerHeight;
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`;
  tip.style.top = `${above ? top - offsetHeight - 8 : bottom + 8}px`;
}

function hideTip() {
  tip.hidden = true;
}

/** Shows the tooltip of the focused mention or quotation, unless the panel already says the same. */
function tipOnFocus() {
  const span = document.activeElement.closest(".mention, .quote");
  if (span && !state.selected) showTip(span);
  else hideTip();
}

function setUpDetails() {
  view.addEventListener("pointerover", ({ target, clientX, clientY }) => {
    const span = target.closest(".mention, .quote");
    // A quotation may begin far above, so its tooltip is shown at the pointer.
    if (span) showTip(span, span.dataset.quote && { left: clientX, top: clientY - 14, bottom: clientY + 14 });
    else hideTip();
  });
  view.addEventListener("pointerleave", hideTip);
  view.addEventListener("focusin", tipOnFocus);
  view.addEventListener("scroll", tipOnFocus);
  on("document selection", renderDetails);
  on("current", () => (state.selected ? renderCurrent() : renderDetails()));
  on("document selection", hideTip);
}
