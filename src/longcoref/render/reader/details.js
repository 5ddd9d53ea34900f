// The selected entity, its current mention, and what can be corrected; and the tip on a mention under the pointer.

const details = byId("details");
const tip = byId("tip");
const HINT = "Choose somebody in the cast or the text. Then n and p go from mention to mention; ? shows all keys.";
const ENTITY_TYPES = ["PER", "FAC", "GPE", "LOC", "VEH", "ORG"];

function percent(share) {
  return `${Math.round(share * 100)}\u00a0%`;
}

function action(label, title, act) {
  const button = make("button", { type: "button", title }, label);
  button.addEventListener("click", act);
  return button;
}

function renderDetails() {
  const entity = state.selected;
  details.classList.toggle("empty", !entity);
  if (!entity) {
    details.replaceChildren(...[HINT, ...provenance()].map((line) => make("p", { className: "note" }, line)));
    return;
  }
  details.style.setProperty("--hue", entity.hue);
  details.replaceChildren(
    nameField(entity),
    typeField(entity),
    make("p", { className: "note" }, summary(entity)),
    wordings(entity),
    stepper(),
    make("div", { id: "mention-box" }),
    make(
      "div",
      { className: "actions" },
      action("Merge with…", "It is the same as another (m)", startMerging),
      action("Remove entity", "Take all its mentions out", () => correct(removing(entity.mentions, entity.name))),
      action("Close", "Choose nobody (Esc)", () => select(null)),
    ),
  );
  renderCurrent();
}

/** What the document is and where it comes from. */
function provenance() {
  const { cast, rest } = state.doc;
  const mentions = cast.reduce((sum, entity) => sum + entity.mentions.length, 0);
  const lines = [`${mentions} mentions of ${cast.length} entities.`];
  if (rest.model) lines.push(`Model: ${rest.model}.`);
  if (rest.memory) lines.push(`Memory: ${rest.memory.policy}${rest.memory.capacity ? `, ${rest.memory.capacity} cells` : ""}.`);
  return lines;
}

/** The current mention, if it is the selected entity's. */
function renderCurrent() {
  const { selected, current } = state;
  if (!selected) return;
  const isOurs = current?.entity === selected;
  byId("step").textContent = `${isOurs ? selected.mentions.indexOf(current) + 1 : "–"} of ${selected.mentions.length}`;
  byId("mention-box").replaceChildren(...(isOurs ? mentionParts(current) : []));
}

function nameField(entity) {
  const input = make("input", { id: "name", value: oneLine(entity.name), autocomplete: "off" });
  input.setAttribute("aria-label", "Name");
  input.addEventListener("change", () => {
    const name = input.value.trim();
    if (name && name !== entity.name) correct(renaming(entity, name));
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
  field.addEventListener("change", () => correct(retyping(entity, field.value || null)));
  return field;
}

function summary({ mentions }) {
  const { length } = state.doc.text;
  const kinds = tally(mentions.filter(({ kind }) => kind).map(({ kind }) => KINDS[kind] ?? kind));
  const places = `from ${percent(mentions[0].from / length)} to ${percent(mentions.at(-1).from / length)} of the text`;
  const parts = kinds.map(([kind, count]) => `${count} ${count === 1 ? kind.replace(/s$/, "") : kind}`);
  return `${mentions.length === 1 ? "1 mention" : `${mentions.length} mentions`}${parts.length ? ` (${parts.join(", ")})` : ""}, ${places}`;
}

function wordings(entity) {
  const all = (entity.wordings ??= wordingsOf(entity.mentions));
  const items = all.slice(0, 12).map(([text, count]) => make("li", {}, text, make("span", { className: "count" }, count > 1 ? ` ${count}` : "")));
  if (all.length > 12) items.push(make("li", { className: "note" }, `and ${all.length - 12} more`));
  return make("ul", { className: "wordings", ariaLabel: "Wordings" }, ...items);
}

function stepper() {
  return make(
    "div",
    { className: "stepper" },
    action("←", "Previous mention (p)", () => step(-1)),
    make("output", { id: "step" }),
    action("→", "Next mention (n)", () => step(1)),
  );
}

function mentionParts(mention) {
  const { entity } = mention;
  const rest = entity.mentions.slice(entity.mentions.indexOf(mention));
  const parts = [make("blockquote", {}, oneLine(mention.text)), ...facts(mention)];
  if (entity.mentions.length > 1) {
    parts.push(
      make(
        "div",
        { className: "actions" },
        action("Split off", "This mention is somebody else (x)", splitOff),
        ...(rest.length > 1 && rest.length < entity.mentions.length
          ? [action("Split from here on", "From here on it is somebody else", () => split(rest))]
          : []),
        action("Remove mention", "It refers to nobody", () => correct(removing([mention], `“${oneLine(mention.text)}”`))),
      ),
    );
  }
  return parts;
}

function split(mentions) {
  const change = splitting(state.doc, mentions);
  correct(change);
  select(change.entity, mentions[0]);
}

function splitOff() {
  if (state.current?.entity.mentions.length > 1) split([state.current]);
}

/** Kind, probability and decision of a mention, as paragraphs. */
function facts(mention) {
  const said = [{ PROP: "name", NOM: "description", PRON: "pronoun" }[mention.kind] ?? mention.kind];
  if (mention.type) said.push(mention.type);
  if (mention.score !== undefined) said.push(`${percent(mention.score)} sure`);
  const lines = [said.filter(Boolean).join(" · ")];
  const decision = decisionOn(mention);
  if (decision) lines.push(decisionText(decision));
  return lines.filter(Boolean).map((line) => make("p", { className: "note" }, line));
}

function showTip(span) {
  const mention = mentionOf(span);
  const { entity } = mention;
  tip.style.setProperty("--hue", entity.hue);
  const heading = make("strong", {}, oneLine(entity.name));
  const count = entity.mentions.length;
  tip.replaceChildren(heading, make("p", { className: "note" }, `${entity.type ?? "no type"} · ${entity.mentions.indexOf(mention) + 1} of ${count}`), ...facts(mention));
  placeTip(span.getClientRects()[0]);
}

/** Puts the tip beside a rectangle of the window, inside the window. */
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

/** Shows the tip of the mention that has the focus, where the panel does not say the same. */
function tipOnFocus() {
  const span = document.activeElement.closest(".mention");
  if (span && !state.selected) showTip(span);
  else hideTip();
}

function setUpDetails() {
  view.addEventListener("pointerover", ({ target }) => {
    const span = target.closest(".mention");
    if (span) showTip(span);
    else hideTip();
  });
  view.addEventListener("pointerleave", hideTip);
  view.addEventListener("focusin", tipOnFocus);
  view.addEventListener("scroll", tipOnFocus);
  on("document selection", renderDetails);
  on("current", renderCurrent);
  on("document selection", hideTip);
}
