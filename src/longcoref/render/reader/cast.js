// The cast, a list of entities of which only the visible rows are in the tree, and the filters.

const ROW = 34; // pixels, as in reader.css
const list = byId("cast-list");
const rows = byId("cast-rows");
let listed = [];

const KINDS = { PROP: "names", NOM: "descriptions", PRON: "pronouns" };
const MANY = { PER: "people", FAC: "buildings", GPE: "towns", LOC: "places", VEH: "vehicles", ORG: "organisations", EVENT: "events", TIME: "times", THING: "things", none: "others" };
const ORDERS = {
  mentions: () => 0, // the order of the cast
  quotations: (a, b) => b.quotes.length - a.quotes.length,
  "first appearance": (a, b) => a.mentions[0].index - b.mentions[0].index,
  name: (a, b) => oneLine(a.name).localeCompare(oneLine(b.name), "en", { sensitivity: "base", numeric: true }),
  type: (a, b) => typeOf(a).localeCompare(typeOf(b)),
};
const TYPES = { PER: "person", FAC: "building", GPE: "country or town", LOC: "place", VEH: "vehicle", ORG: "organisation", EVENT: "event", TIME: "time", THING: "thing", none: "no type" };

function renderCast() {
  const wanted = oneLine(state.query.trim()).toLowerCase();
  const cast = [...state.doc.cast].sort(ORDERS[byId("sort").value]);
  listed = cast.filter((entity) => isListed(entity) && (!wanted || entity.name.toLowerCase().includes(wanted)));
  // Entities whose names match come first, then those with a matching mention.
  if (wanted) {
    const named = new Set(listed);
    listed.push(...cast.filter((entity) => isListed(entity) && !named.has(entity) && isCalled(entity, wanted)));
  }
  rows.style.height = `${listed.length * ROW}px`;
  const all = cast.length;
  byId("cast-count").textContent = listed.length === all ? `${all} entities` : `${listed.length} of ${all} entities`;
  drawRows();
}

function isCalled({ mentions }, wanted) {
  return mentions.some(({ kind, text }) => kind !== "PRON" && oneLine(text).toLowerCase().includes(wanted));
}

function drawRows() {
  const focused = document.activeElement?.dataset.row;
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 10);
  const last = Math.min(listed.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 10);
  rows.replaceChildren(...listed.slice(first, last).map((entity, offset) => row(entity, first + offset)));
  if (focused !== undefined) rows.querySelector(`[data-row="${focused}"]`)?.focus({ preventScroll: true });
}

function row(entity, number) {
  const [count, spoken] = [entity.mentions.length, entity.quotes.length];
  const button = make(
    "button",
    { type: "button", className: "entity", ariaPressed: String(entity === state.selected) },
    make("span", { className: "dot" }),
    make("span", { className: "name" }, oneLine(entity.name)),
    make("span", { className: "type" }, entity.type ?? ""),
    ...(state.doc.quotes.length ? [make("span", { className: "spoken", title: "quotations" }, spoken ? `“${spoken}` : "")] : []),
    make("span", { className: "count" }, String(count)),
  );
  const says = spoken ? `, ${counted(spoken, "quotation")}` : "";
  button.setAttribute("aria-label", `${oneLine(entity.name)}, ${TYPES[typeOf(entity)] ?? typeOf(entity)}, ${counted(count, "mention")}${says}`);
  button.dataset.row = number;
  button.dataset.entity = entity.id;
  button.classList.toggle("single", count === 1);
  button.style.setProperty("--hue", entity.hue);
  const item = make("li", {}, button);
  item.setAttribute("aria-setsize", listed.length);
  item.setAttribute("aria-posinset", number + 1);
  item.style.top = `${number * ROW}px`;
  return item;
}

/** Selects an entity, or deselects it; if none of its mentions is in view, scrolls to the next. */
function choose(entity) {
  const isPicking = Boolean(state.picking);
  if (entity === state.selected && !isPicking) {
    select(null);
    return;
  }
  select(entity);
  showCast(false);
  const { from, to } = visibleRange();
  if (isPicking || !network.hidden || entity.mentions.some((mention) => mention.from >= from && mention.to <= to)) return;
  step(1);
  // The keyboard focus stays in the cast.
  rows.querySelector("[aria-pressed='true']")?.focus({ preventScroll: true });
}

/** Opens or closes the cast if the window is too narrow to show it permanently. */
function showCast(open) {
  byId("cast").classList.toggle("open", open);
  byId("open-cast").ariaExpanded = String(open);
  drawRows();
}

function moveRow(direction) {
  const number = Number(document.activeElement.dataset.row) + direction;
  if (!(number >= 0 && number < listed.length)) return;
  const top = number * ROW;
  list.scrollTop = Math.max(top + ROW - list.clientHeight, Math.min(top, list.scrollTop));
  drawRows();
  rows.querySelector(`[data-row="${number}"]`).focus({ preventScroll: true });
}

function renderFilters() {
  const { doc } = state;
  chips(byId("types"), tally(doc.cast.map(typeOf)), state.onlyTypes, MANY);
  const kinds = doc.mentions.filter((mention) => mention.entity && mention.kind).map(({ kind }) => kind);
  chips(byId("kinds"), tally(kinds), state.onlyKinds, KINDS);
  byId("voices-label").hidden = !doc.quotes.length;
  byId("voices").checked = state.voices;
  byId("least").value = state.least;
}

/** A button for each value. Those that are pressed are the only ones shown; if none is, all are. */
function chips(place, counts, only, labels) {
  for (const value of only) if (!counts.some(([other]) => other === value)) only.delete(value);
  const buttons = counts.map(([value, count]) => {
    const label = labels[value] ?? value;
    const button = make("button", { type: "button", className: "chip", title: `only ${label}: ${count}` }, label);
    button.ariaPressed = String(only.has(value));
    button.addEventListener("click", () => {
      if (!only.delete(value)) only.add(value);
      button.ariaPressed = String(only.has(value));
      tell("filters");
    });
    return button;
  });
  place.replaceChildren(make("span", {}, "only"), ...buttons);
  place.hidden = counts.length < 2;
}

function setUpCast() {
  list.addEventListener("scroll", drawRows);
  rows.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button) choose(listed[button.dataset.row]);
  });
  rows.addEventListener("keydown", (event) => {
    const direction = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!direction) return;
    event.preventDefault();
    moveRow(direction);
  });
  byId("least").addEventListener("input", ({ target }) => {
    state.least = Math.max(1, Number(target.value) || 1);
    tell("filters");
  });
  byId("voices").addEventListener("change", ({ target }) => {
    state.voices = target.checked;
    tell("filters");
  });
  byId("sort").append(...Object.keys(ORDERS).map((order) => make("option", { value: order }, order)));
  byId("sort").addEventListener("change", () => {
    list.scrollTop = 0;
    renderCast();
  });
  byId("open-cast").addEventListener("click", () => showCast(!byId("cast").classList.contains("open")));
  on("document", renderFilters);
  on("document filters selection", renderCast);
  on("resize", drawRows);
}
