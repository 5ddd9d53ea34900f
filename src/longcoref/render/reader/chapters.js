// The chapters: a list to go to them, and where in the text the reader is. Chapters are found by longcoref; in a text that it
// has not read to the end, they are the headings that the page shows.

/** Chapters {from, heading, title, number}: where each begins, where its heading is, and its number or a short title. */
function chaptersOf(doc, blocks, found) {
  const places = found
    ? found.map(({ start, heading, title }) => ({ from: doc.toUnit(start), heading: doc.toUnit(heading), line: title }))
    : headingsOf(doc, blocks);
  if (places.length < 2) return [];
  return places.map(({ from, heading, line }, index) => {
    const title = fullTitle(doc, blocks, heading, line || "Beginning", places[index + 1]?.heading ?? Infinity);
    return { from: index ? from : 0, heading, title, number: line.match(/^\w+\s+([ivxlc]+|\d+)\b/i)?.[1] ?? shortened(title, 16) };
  });
}

function headingsOf({ text }, blocks) {
  return blocks
    .filter(({ kind }) => kind === "heading")
    .map(({ from, to }) => ({ from, heading: from, line: oneLine(text.slice(from, to)).trim() }))
    .filter(({ line }) => CHAPTER.test(line));
}

/** The heading, with the title in the paragraph below it if there is one. */
function fullTitle(doc, blocks, heading, line, end) {
  const below = blocks[lowerBound(blocks, heading + 1, ({ from }) => from)];
  const title = titleCase(oneLine(line));
  if (!below || below.kind !== "heading" || below.from >= end) return title;
  return `${title.replace(/\.$/, "")} · ${titleCase(oneLine(doc.text.slice(below.from, below.to)).trim())}`;
}

/** The number, counted from 0, of the chapter at a place in the text. */
function chapterAt(place) {
  return Math.max(0, lowerBound(state.chapters, place + 1, ({ from }) => from) - 1);
}

/** Goes to the next (1) or previous (-1) chapter. */
function stepChapter(direction) {
  const { chapters } = state;
  const here = visibleRange().from;
  const next = direction > 0 ? lowerBound(chapters, here + 1, ({ heading }) => heading) : lowerBound(chapters, here, ({ heading }) => heading) - 1;
  if (chapters[next]) goToChapter(chapters[next]);
}

function goToChapter({ heading, title }) {
  showNetwork(false);
  scrollToPlace(heading, 0);
  remember(heading);
  say(title);
}

function renderChapters() {
  byId("tab-chapters").hidden = !state.chapters.length;
  if (!state.chapters.length) showPanel("people");
  else if (!byId("chapters").hidden) byId("chapter-list").replaceChildren(...state.chapters.map(chapterRow));
  showPlace();
}

function chapterRow(chapter, number) {
  const button = action(chapter.title, "", () => {
    goToChapter(chapter);
    showCast(false);
  });
  const count = mentionsIn(state.selected, number);
  if (count) {
    button.append(make("span", { className: "count", title: `${counted(count, "mention")} of ${oneLine(state.selected.name)}` }, String(count)));
    button.style.setProperty("--hue", state.selected.hue);
  }
  return make("li", {}, button);
}

/** The number of mentions of an entity in a chapter. */
function mentionsIn(entity, number) {
  if (!entity) return 0;
  const end = state.chapters[number + 1]?.from ?? Infinity;
  const before = (place) => lowerBound(entity.mentions, place, ({ from }) => from);
  return before(end) - before(state.chapters[number].from);
}

/** Says where in the text the reader is: in the header, and in the list of chapters. */
function renderPlace({ from, to }) {
  const { length } = state.doc.text;
  const number = chapterAt(from);
  const title = state.chapters[number]?.title;
  const place = [title, percent(to >= length ? 1 : from / length)].filter(Boolean).join(" · ");
  if (place !== byId("place").textContent) byId("place").textContent = place;
  if (byId("chapters").hidden) return;
  for (const row of byId("chapter-list").querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
  byId("chapter-list").children[number]?.firstChild.setAttribute("aria-current", "location");
}

/** Shows the cast or the chapters in the left panel. */
function showPanel(name) {
  for (const other of ["people", "chapters"]) {
    byId(other).hidden = other !== name;
    setTab(byId(`tab-${other}`), other === name);
  }
  if (name === "chapters") {
    renderChapters();
    byId("chapter-list").children[chapterAt(visibleRange().from)]?.scrollIntoView({ block: "nearest" });
  } else {
    drawRows();
  }
}

/** Marks a tab as selected or not; only the selected one is reached by Tab, the others by arrow keys. */
function setTab(tab, selected) {
  tab.ariaSelected = String(selected);
  tab.tabIndex = selected ? 0 : -1;
}

/** Makes the arrow keys go from tab to tab. */
function setUpTabs(tabs) {
  for (const tab of tabs) {
    tab.addEventListener("keydown", (event) => {
      const turn = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const shown = tabs.filter((other) => !other.hidden);
      if (!turn || shown.length < 2) return;
      event.preventDefault();
      event.stopPropagation();
      const next = shown.at((shown.indexOf(tab) + turn) % shown.length);
      next.click();
      next.focus();
    });
  }
}

function setUpChapters() {
  for (const name of ["people", "chapters"]) byId(`tab-${name}`).addEventListener("click", () => showPanel(name));
  setUpTabs([byId("tab-people"), byId("tab-chapters")]);
  on("document selection", renderChapters);
}
