// The timeline (where each entity appears in the text), and what it shares with the memory view.

const LINE = 17; // pixels of one row
const body = byId("strip-body");
const lens = byId("lens");
const timeline = byId("timeline");
let timelineRows = [];

function isDark() {
  const scheme = document.documentElement.style.colorScheme;
  return scheme ? scheme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function colour(entity, alpha = 1, dark = isDark()) {
  return dark ? `oklch(0.76 0.11 ${entity.hue} / ${alpha})` : `oklch(0.58 0.13 ${entity.hue} / ${alpha})`;
}

function ink(alpha, dark = isDark()) {
  return dark ? `rgb(235 230 220 / ${alpha})` : `rgb(50 45 40 / ${alpha})`;
}

function paper(dark) {
  return dark ? "#17181b" : "#fcfaf6"; // as in palette.css
}

/** A colour as #rrggbb, which every program knows. */
function plain(css) {
  plain.pen ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  plain.pen.fillStyle = css;
  plain.pen.fillRect(0, 0, 1, 1);
  const pixel = plain.pen.getImageData(0, 0, 1, 1).data;
  return `#${Array.from(pixel.slice(0, 3), (value) => value.toString(16).padStart(2, "0")).join("")}`;
}

// From places in the text to pixels; measured once per size, because reading sizes while drawing is slow.
const scale = { left: 0, width: 1, head: 0 };

function measureStrips() {
  scale.head = state.chapters.length ? 14 : 0; // for the numbers of the chapters
  scale.left = body.clientWidth < 600 ? 84 : 150;
  scale.width = Math.max(1, body.clientWidth - scale.left - 14);
}

function across(place) {
  return scale.left + (place / state.doc.text.length) * scale.width;
}

function placeAt(x) {
  const share = (x - scale.left) / scale.width;
  return Math.round(Math.max(0, Math.min(1, share)) * (state.doc.text.length - 1));
}

/** Draws a tick at each place, at most one per pixel. */
function ticks(context, places, top, height) {
  let last = -1;
  for (const place of places) {
    const x = Math.round(across(place));
    if (x !== last) context.fillRect(x - 1, top, 2, height);
    last = x;
  }
}

/** Resizes and clears a canvas for a number of rows; returns its context, in CSS pixels below the numbers of the chapters. */
function pen(canvas, count) {
  const [width, height] = [scale.left + scale.width + 14, scale.head + count * LINE + 6];
  canvas.width = width * devicePixelRatio;
  canvas.height = height * devicePixelRatio;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(devicePixelRatio, devicePixelRatio);
  context.translate(0, scale.head);
  context.font = `12px ${getComputedStyle(body).fontFamily}`;
  context.textBaseline = "middle";
  return context;
}

function label(context, text, number, strong) {
  const room = scale.left - 22;
  let shown = oneLine(text).slice(0, Math.ceil(room)); // no character is narrower than a pixel
  while (shown.length > 1 && context.measureText(shown).width > room) shown = `${shown.replace(/…$/, "").slice(0, -1).trimEnd()}…`;
  context.fillStyle = ink(strong ? 1 : 0.72);
  context.fillText(shown, 14, number * LINE + 3 + LINE / 2);
}

function drawTimeline() {
  if (timeline.hidden || body.hidden) return;
  const { cast } = state.doc;
  const room = innerHeight < 700 || innerWidth < 700 ? 5 : 9;
  timelineRows = cast.filter(isListed).slice(0, room);
  if (state.selected && !timelineRows.includes(state.selected)) timelineRows = [...timelineRows.slice(0, room - 1), state.selected];
  const context = pen(timeline, timelineRows.length);
  drawChapters(context, timelineRows.length);
  timelineRows.forEach((entity, number) => {
    const faint = state.selected && entity !== state.selected;
    label(context, entity.name, number, entity === state.selected);
    context.fillStyle = ink(0.12);
    context.fillRect(scale.left, number * LINE + 3 + LINE / 2, scale.width, 1);
    context.fillStyle = colour(entity, faint ? 0.3 : 0.7);
    ticks(context, entity.mentions.map(({ from }) => from), number * LINE + 6, LINE - 6);
  });
  const hidden = cast.filter(isListed).length - timelineRows.length;
  byId("strip-note").textContent = hidden > 0 ? `the ${timelineRows.length} most mentioned; select others in the cast` : "";
}

/** Draws a faint line where each chapter begins, its number if there is room, and the chapters of the network. */
function drawChapters(context, count) {
  const { chapters } = state;
  if (!chapters.length) return;
  const all = count * LINE + 6;
  if (!network.hidden) {
    context.fillStyle = ink(0.07);
    const end = chapters[range.last + 1]?.from ?? state.doc.text.length;
    context.fillRect(across(chapters[range.first].from), -scale.head, across(end) - across(chapters[range.first].from), scale.head + all);
  }
  let free = 0;
  context.save();
  context.font = context.font.replace("12px", "10.5px");
  for (const { from, number } of chapters) {
    const x = across(from);
    context.fillStyle = ink(0.16);
    context.fillRect(x, -scale.head, 1, scale.head + all);
    if (x < free) continue;
    context.fillStyle = ink(0.72);
    context.fillText(number, x + 4, 8 - scale.head);
    free = x + 4 + context.measureText(number).width + 6;
  }
  context.restore();
}

/** Shows where in the text the reader is, on all parts of the page. The sizes are read before anything is written. */
const showPlace = beforeFrame(() => {
  if (!tops.length) return;
  const shown = visibleRange();
  drawLens(shown);
  renderPlace(shown);
});

function drawLens({ from, to }) {
  if (body.hidden) return;
  lens.style.left = `${across(from)}px`;
  lens.style.width = `${Math.max(3, across(to) - across(from))}px`;
  const share = Math.round((100 * from) / state.doc.text.length);
  timeline.setAttribute("aria-valuenow", share);
  const chapter = state.chapters[chapterAt(from)]?.title;
  timeline.setAttribute("aria-valuetext", `${share} percent of the text${chapter ? `, ${chapter}` : ""}`);
}

function clickTimeline({ offsetX, offsetY }) {
  if (offsetY < scale.head && offsetX >= scale.left) {
    goToChapter(state.chapters[chapterAt(placeAt(offsetX))]);
    return;
  }
  const entity = timelineRows[Math.floor((offsetY - scale.head - 3) / LINE)];
  if (!entity) return;
  if (offsetX < scale.left) {
    choose(entity);
    return;
  }
  showNetwork(false);
  select(entity);
  const place = placeAt(offsetX);
  const nearest = entity.mentions.reduce((best, mention) => (Math.abs(mention.from - place) < Math.abs(best.from - place) ? mention : best));
  if (Math.abs(across(nearest.from) - offsetX) < 6) goTo(nearest);
  else scrollToPlace(place);
}

/** Shows which chapter is under the pointer. */
function tipOfPlace({ offsetX, clientX, clientY }) {
  const chapter = state.chapters[chapterAt(placeAt(offsetX))];
  if (!chapter || offsetX < scale.left) {
    hideTip();
    return;
  }
  tip.classList.remove("late");
  tip.replaceChildren(make("p", { className: "note" }, chapter.title));
  placeTip({ left: clientX + 8, top: clientY - 8, bottom: clientY + 8 });
}

function showStrip(name) {
  for (const other of ["timeline", "memory"]) {
    byId(other).hidden = other !== name;
    setTab(byId(`tab-${other}`), other === name);
  }
  drawStrips();
}

/** Draws the visible strip. */
const drawStrips = beforeFrame(() => {
  measureStrips();
  drawTimeline();
  drawMemory();
  showPlace();
});

function setUpStrips() {
  timeline.addEventListener("click", clickTimeline);
  timeline.addEventListener("keydown", (event) => {
    const turn = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageUp: -10, PageDown: 10 }[event.key];
    if (!turn) return;
    event.preventDefault();
    event.stopPropagation();
    const place = visibleRange().from + (turn * state.doc.text.length) / 100;
    scrollToPlace(Math.max(0, Math.min(state.doc.text.length - 1, Math.round(place))), 0);
  });
  for (const name of ["timeline", "memory"]) byId(`tab-${name}`).addEventListener("click", () => showStrip(name));
  byId("fold").addEventListener("click", ({ target }) => {
    body.hidden = !body.hidden;
    target.ariaExpanded = String(!body.hidden);
    target.textContent = body.hidden ? "▴" : "▾";
    drawStrips();
  });
  timeline.addEventListener("pointermove", tipOfPlace);
  timeline.addEventListener("pointerleave", hideTip);
  setUpTabs([byId("tab-timeline"), byId("tab-memory")]);
  on("document filters selection resize theme", drawStrips);
  on("scroll", showPlace);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => tell("theme"));
}
