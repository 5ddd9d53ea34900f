// The text, of which only the blocks in view and some around them are in the tree. The height of a block is estimated until it
// is first drawn; if a block above the view turns out different, the scroll position is corrected, so that nothing jumps.

const AROUND = 400; // pixels drawn above and below the view
const view = byId("text");
const column = byId("blocks");
const drawn = new Map(); // number of block -> its element
const measured = new Set();
let heights = [];
let tops = []; // tops[i] is where block i begins; the last is the total height
let frame = { top: 0, height: 0 }; // where the column begins in the view, and the view's height

function estimate() {
  frame = { top: column.offsetTop, height: view.clientHeight };
  const style = getComputedStyle(column);
  const size = parseFloat(style.fontSize);
  const perLine = Math.max(20, column.clientWidth / (size * 0.47));
  const line = parseFloat(style.lineHeight);
  heights = state.blocks.map(({ from, to, kind }) => {
    const lines = kind === "verse" ? state.doc.text.slice(from, to).trim().split("\n").length : Math.ceil((to - from) / perLine);
    return lines * line + size;
  });
  measured.clear();
  stack();
}

function stack() {
  tops = [0, ...sums(heights)];
  column.style.height = `${tops.at(-1)}px`;
}

/** The block at a height of the column. */
function blockAtHeight(height) {
  return Math.min(state.blocks.length - 1, Math.max(0, lowerBound(tops, height + 1, (top) => top) - 1));
}

function blockAt(place) {
  return Math.max(0, lowerBound(state.blocks, place + 1, (block) => block.from) - 1);
}

/** Draws the blocks in view, and measures those drawn for the first time. */
function draw() {
  const top = view.scrollTop - frame.top;
  const anchor = blockAtHeight(top);
  const below = top - tops[anchor];
  const first = blockAtHeight(top - AROUND);
  const last = blockAtHeight(top + frame.height + AROUND);
  for (const [number, element] of drawn) {
    if (number < first || number > last) {
      element.remove();
      drawn.delete(number);
    }
  }
  const fresh = [];
  for (let number = first; number <= last; number++) {
    if (!drawn.has(number)) fresh.push(number);
  }
  for (const number of fresh) insert(number);
  const unknown = fresh.filter((number) => !measured.has(number));
  for (const number of unknown) {
    heights[number] = drawn.get(number).offsetHeight;
    measured.add(number);
  }
  if (unknown.length) stack();
  for (const number of unknown.length ? drawn.keys() : fresh) drawn.get(number).style.transform = `translateY(${tops[number]}px)`;
  if (tops[anchor] + below !== top) view.scrollTop = frame.top + tops[anchor] + below;
  if (fresh.length) tell("drawn");
}

function elementOf(block) {
  const element = make(block.kind === "heading" ? "h2" : "p", { className: `block ${block.kind}` });
  fill(element, block);
  return element;
}

function insert(number) {
  const element = elementOf(state.blocks[number]);
  element.dataset.block = number;
  drawn.set(number, element);
  // In text order, for screen readers.
  const next = [...drawn.keys()].filter((other) => other > number).sort((a, b) => a - b)[0];
  column.insertBefore(element, next === undefined ? null : drawn.get(next));
}

/** Fills an element with the text of a block, its mentions and quotations as nested spans. */
function fill(element, block) {
  const spans = shownIn(block);
  const open = [{ element, to: block.to, level: 0 }];
  let place = block.from;
  const write = (to) => {
    if (to > place) open.at(-1).element.append(state.doc.text.slice(place, to));
    place = to;
  };
  const close = () => {
    write(open.at(-1).to);
    const { element: done, level, line } = open.pop();
    done.style.setProperty("--level", level);
    open.at(-1).level = Math.max(open.at(-1).level, level + line);
  };
  for (let index = 0; index < spans.length; index++) {
    let { quote, mention, from, to } = spans[index];
    while (from >= open.at(-1).to) close();
    write(from);
    const end = open.at(-1).to;
    if (to > end) {
      // It crosses the end of another span: the rest becomes a second span.
      const rest = { quote, mention, from: end, to };
      spans.splice(index + 1 + lowerBound(spans.slice(index + 1), end, (span) => span.from), 0, rest);
      to = end;
    }
    const span = mention ? mentionSpan(mention) : quoteSpan(quote);
    open.at(-1).element.append(span);
    open.push({ element: span, to, level: 0, line: mention ? 1 : 0 }); // a quotation is not underlined
  }
  while (open.length > 1) close();
  write(block.to);
}

/** The mentions and quotations in a block, cut to it, outer ones before inner ones. */
function shownIn(block) {
  const { mentions, quotes } = state.doc;
  const cut = ({ from, to }) => ({ from: Math.max(from, block.from), to: Math.min(to, block.to) });
  return [
    ...within(quotes, block).filter(isHeard).map((quote) => ({ quote, ...cut(quote) })),
    ...within(mentions, block).filter(isShown).map((mention) => ({ mention, ...cut(mention) })),
  ].sort((a, b) => a.from - b.from || b.to - a.to);
}

function mentionSpan(mention) {
  const span = make("span", { className: "mention", tabIndex: -1 });
  span.dataset.mention = mention.index;
  span.style.setProperty("--hue", mention.entity.hue);
  light(span, mention);
  return span;
}

function quoteSpan(quote) {
  const span = make("span", { className: "quote", tabIndex: -1 });
  span.dataset.quote = quote.index;
  lightQuote(span, quote);
  return span;
}

function lightQuote(span, quote) {
  const speaker = present(quote.speaker);
  if (speaker) span.style.setProperty("--hue", speaker.hue);
  span.classList.toggle("voiced", Boolean(speaker));
  span.classList.toggle("on", Boolean(speaker && speaker === state.selected));
  span.classList.toggle("now", quote === state.quote);
}

function light(span, mention) {
  span.classList.toggle("single", mention.entity.mentions.length === 1);
  span.classList.toggle("on", mention.entity === state.selected);
  span.classList.toggle("now", mention === state.current);
}

function lightAll() {
  column.classList.toggle("chosen", Boolean(state.selected));
  for (const span of column.querySelectorAll(".mention")) light(span, mentionOf(span));
  for (const span of column.querySelectorAll(".quote")) lightQuote(span, quoteOf(span));
}

function mentionOf(span) {
  return state.doc.mentions[span.dataset.mention];
}

function quoteOf(span) {
  return state.doc.quotes[span.dataset.quote];
}

/** Redraws the blocks in view after a change of mentions, which does not change their heights. */
function refill() {
  for (const [number, element] of drawn) {
    element.replaceChildren();
    fill(element, state.blocks[number]);
  }
  lightAll();
  tell("drawn");
}

/** Redraws everything after a change of text or width, and keeps the place. */
function redraw() {
  const place = tops.length > 1 ? visibleRange().from : 0;
  for (const element of drawn.values()) element.remove();
  drawn.clear();
  estimate();
  scrollToPlace(place, 0);
}

/** Scrolls a place in the text to a fraction of the height of the view. */
function scrollToPlace(place, share = 0.35) {
  const number = blockAt(Math.min(place, state.doc.text.length - 1));
  // At first, heights around the target may be estimates; the second time, they are known.
  for (let round = 0; round < 2 && (round === 0 || !share); round++) {
    if (share && drawn.has(number)) break;
    view.scrollTop = frame.top + tops[number] - frame.height * share;
    draw();
  }
  const rectangle = share && rangeOf(place, place + 1)?.getBoundingClientRect();
  if (rectangle) {
    view.scrollTop += rectangle.top - view.getBoundingClientRect().top - frame.height * share;
    draw();
  }
  tell("scroll");
}

/** Scrolls to a mention or a quotation and focuses it. */
function showSpan(kind, { from, index }) {
  showNetwork(false);
  scrollToPlace(from);
  column.querySelector(`[data-${kind}="${index}"]`)?.focus({ preventScroll: true });
}

/** The range of the blocks in view, without the white space before them. */
function visibleRange() {
  const top = view.scrollTop - frame.top;
  const { from, to } = state.blocks[blockAtHeight(top)];
  const blank = state.doc.text.slice(from, to).search(/\S/);
  return { from: from + Math.max(0, blank), to: state.blocks[blockAtHeight(top + frame.height)].to };
}

/** The DOM range of characters of the text, if their block is drawn. */
function rangeOf(from, to) {
  const number = blockAt(from);
  const element = drawn.get(number);
  if (!element) return null;
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let place = state.blocks[number].from;
  let begun = false;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const end = place + node.length;
    if (!begun && from < end) {
      range.setStart(node, from - place);
      begun = true;
    }
    if (begun) range.setEnd(node, Math.min(node.length, to - place));
    if (begun && to <= end) break;
    place = end;
  }
  return begun ? range : null;
}

/** For printing, all of the text is put into the tree, and removed afterwards. */
function drawForPrint() {
  drawn.clear();
  column.replaceChildren(...state.blocks.map(elementOf));
}

function drawForScreen() {
  column.replaceChildren();
  redraw();
}

function setUpText() {
  let waiting = false;
  view.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
      tell("scroll");
    });
  });
  let width = 0;
  new ResizeObserver(() => {
    frame = { top: column.offsetTop, height: view.clientHeight };
    if (column.clientWidth !== width) redraw();
    else draw();
    width = column.clientWidth;
    tell("resize");
  }).observe(view);
  view.addEventListener("click", ({ target }) => {
    const span = target.closest(".mention, .quote");
    if (span?.dataset.mention) select(mentionOf(span).entity, mentionOf(span));
    else if (String(getSelection())) return; // text is being selected, to be copied
    else if (span) select(present(quoteOf(span).speaker), null, quoteOf(span));
    else if (!state.picking) select(null);
  });
  addEventListener("beforeprint", drawForPrint);
  addEventListener("afterprint", drawForScreen);
  // The mentions of the selected entity are always drawn, so another selection may change what is shown.
  on("document filters selection", refill);
  on("current", lightAll);
}
