// The memory over time: a row for each cell, with a bar for each entity that it held, and the mentions that were ignored. It
// shows the decisions of the model; corrections change only the names.

const MOST_CELLS = 24;
const memory = byId("memory");

/** The decisions in text order, the entities that cells held, and the ignored mentions; computed when first needed. */
function trace() {
  return (state.trace.unpacked ??= unpackedTrace(state.trace.packed));
}

function unpackedTrace(packed) {
  const starts = sums(packed.start);
  const decisions = starts.map((start, index) => ({
    start,
    end: start + packed.length[index],
    action: packed.actions[packed.action[index]],
    cell: packed.cell[index],
    entity: packed.entity[index],
    evicted: packed.evicted[index],
    mentionScore: packed.mention_score[index],
    bestLink: packed.best_link[index],
  }));
  return historyOf(decisions, packed.invalid);
}

/** The effect of decisions on the cells; `invalid` is the number of mentions that were rejected. */
function historyOf(decisions, invalid) {
  const held = [];
  const holding = new Map(); // cell -> what it holds now
  for (const decision of decisions) {
    if (decision.action === "ignore") continue;
    if (decision.action !== "link") {
      const before = holding.get(decision.cell);
      if (before) before.until = decision;
      const stay = { cell: decision.cell, since: decision, until: null, places: [] };
      holding.set(decision.cell, stay);
      held.push(stay);
    }
    holding.get(decision.cell).places.push(decision.start);
  }
  const opened = new Map(held.map((stay) => [stay.since.entity, stay]));
  const ignored = decisions.filter(({ action }) => action === "ignore");
  return { decisions, held, opened, ignored, invalid };
}

function decisionOn({ start, end }) {
  if (!state.trace) return undefined;
  const { decisions } = trace();
  let index = lowerBound(decisions, start, (decision) => decision.start);
  while (decisions[index]?.start === start && decisions[index].end !== end) index++;
  return decisions[index]?.start === start ? decisions[index] : undefined;
}

/** The entity that a decision created, as it is now; it may have been renamed or removed since. */
function entityOf({ start, end }) {
  const { mentions, toUnit } = state.doc;
  const from = toUnit(start);
  for (let index = lowerBound(mentions, from, (mention) => mention.from); mentions[index]?.from === from; index++) {
    if (mentions[index].end === end) return mentions[index].entity;
  }
  return null;
}

function nameOfOpened(number) {
  const stay = trace().opened.get(number);
  return stay ? nameOfStay(stay) : `entity ${number}`;
}

function nameOfStay({ since }) {
  const { text, toUnit } = state.doc;
  return oneLine(entityOf(since)?.name ?? text.slice(toUnit(since.start), toUnit(since.end)));
}

function decisionText({ action, cell, evicted, bestLink, mentionScore }) {
  const done = {
    link: `linked to cell ${cell + 1}`,
    new: `new entity in cell ${cell + 1}`,
    evict: `evicted ${evicted >= 0 ? nameOfOpened(evicted) : "the entity"} from cell ${cell + 1}`,
    recall: `recalled to cell ${cell + 1}${evicted >= 0 ? `, evicting ${nameOfOpened(evicted)}` : ""}`,
    ignore: "ignored: the memory was full",
  }[action];
  const scores = [`mention ${mentionScore}`, ...(bestLink === null ? [] : [`best link ${bestLink}`])];
  return `${done} (${scores.join(", ")})`;
}

/** The cells to show; an unbounded memory has thousands, of which those with the most mentions are shown. */
function cellsShown() {
  const counts = new Map();
  for (const { cell, places } of trace().held) counts.set(cell, (counts.get(cell) ?? 0) + places.length);
  const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MOST_CELLS);
  return { shown: most.map(([cell]) => cell).sort((a, b) => a - b), all: counts.size };
}

function drawMemory() {
  if (memory.hidden || body.hidden || !state.trace) return;
  const { shown, all } = cellsShown();
  const { held, ignored, invalid } = trace();
  const context = pen(memory, shown.length + 1);
  drawChapters(context, shown.length + 1);
  const rowOf = new Map(shown.map((cell, number) => [cell, number]));
  shown.forEach((cell, number) => label(context, `cell ${cell + 1}`, number));
  for (const stay of held) if (rowOf.has(stay.cell)) drawStay(context, stay, rowOf.get(stay.cell));
  label(context, "ignored", shown.length);
  context.fillStyle = ink(0.5);
  ticks(context, ignored.map(({ start }) => state.doc.toUnit(start)), shown.length * LINE + 6, LINE - 6);
  const evictions = held.filter(({ until }) => until).length;
  byId("strip-note").textContent =
    `${shown.length < all ? `${shown.length} of ${all} cells` : counted(all, "cell")}, ${held.length} entities, ${evictions} evicted, ` +
    `${counted(ignored.length, "mention")} ignored, ${invalid} rejected`;
  memory.setAttribute("aria-label", `Memory over time: ${byId("strip-note").textContent}`);
}

function drawStay(context, stay, number) {
  const { toUnit, text } = state.doc;
  const entity = entityOf(stay.since) ?? { hue: 0 };
  const from = across(toUnit(stay.since.start));
  const to = across(stay.until ? toUnit(stay.until.start) : text.length);
  const faint = state.selected && entity !== state.selected;
  const top = number * LINE + 4;
  context.fillStyle = colour(entity, faint ? 0.1 : 0.28);
  context.fillRect(from, top, Math.max(1, to - from - 1), LINE - 2);
  context.fillStyle = colour(entity, faint ? 0.25 : 0.85);
  ticks(context, stay.places.map(toUnit), top + LINE - 6, 4);
  const name = nameOfStay(stay);
  if (to - from > 34) {
    context.save();
    context.beginPath();
    context.rect(from, top, to - from - 3, LINE);
    context.clip();
    context.fillStyle = ink(faint ? 0.4 : 0.9);
    context.font = context.font.replace("12px", "11px");
    context.fillText(name, from + 4, top + LINE / 2 - 2);
    context.restore();
  }
}

function stayAt(x, y) {
  const { shown } = cellsShown();
  const cell = shown[Math.floor((y - scale.head - 3) / LINE)];
  const { toUnit } = state.doc;
  return trace().held.findLast((stay) => stay.cell === cell && across(toUnit(stay.since.start)) <= x && x >= scale.left);
}

function setUpMemory() {
  memory.addEventListener("click", ({ offsetX, offsetY }) => {
    const stay = stayAt(offsetX, offsetY);
    const entity = stay && entityOf(stay.since);
    if (entity) select(entity);
    if (offsetX >= scale.left) scrollToPlace(placeAt(offsetX));
  });
  memory.addEventListener("pointermove", ({ offsetX, offsetY, clientX, clientY }) => {
    const stay = stayAt(offsetX, offsetY);
    if (!stay) {
      hideTip();
      return;
    }
    const end = stay.until ? `evicted for ${nameOfStay({ since: stay.until })}` : "held to the end";
    tip.style.setProperty("--hue", entityOf(stay.since)?.hue ?? 0);
    tip.replaceChildren(
      make("strong", {}, nameOfStay(stay)),
      make("p", { className: "note" }, `cell ${stay.cell + 1} · ${counted(stay.places.length, "mention")} · ${end}`),
    );
    placeTip({ left: clientX + 8, top: clientY - 8, bottom: clientY + 8 });
  });
  memory.addEventListener("pointerleave", hideTip);
}
