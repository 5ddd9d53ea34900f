// Search in the text, with all visible hits highlighted, and in the names of the cast.

const hits = { places: [], index: -1 };

function find() {
  const words = state.query.trim();
  hits.index = -1;
  hits.places = [];
  if (words) {
    // A space also matches a line end, since the text may be wrapped anywhere.
    const pattern = words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+");
    hits.places = Array.from(state.doc.text.matchAll(new RegExp(pattern, "giu")), (match) => [match.index, match.index + match[0].length]);
  }
  renderHits();
}

function renderHits() {
  const { places, index } = hits;
  byId("hits").textContent = !state.query.trim() ? "" : !places.length ? "not in the text" : index < 0 ? `${places.length} in the text` : `${index + 1} of ${places.length}`;
  for (const id of ["hit-previous", "hit-next"]) byId(id).hidden = !places.length;
  markHits();
}

/** Highlights the hits in the drawn blocks, if the browser can do so without changing the tree. */
function markHits() {
  if (!CSS.highlights) return;
  const all = new Highlight();
  const now = new Highlight();
  for (const number of drawn.keys()) {
    const { from, to } = state.blocks[number];
    for (let index = lowerBound(hits.places, from, (place) => place[0]); index < hits.places.length && hits.places[index][0] < to; index++) {
      const range = rangeOf(...hits.places[index]);
      if (range) (index === hits.index ? now : all).add(range);
    }
  }
  CSS.highlights.set("hit", all);
  CSS.highlights.set("hit-now", now);
}

function stepHit(direction) {
  const { places } = hits;
  if (!places.length) return;
  if (hits.index < 0) {
    const next = lowerBound(places, visibleRange().from, (place) => place[0]);
    hits.index = (direction > 0 ? next : next - 1 + places.length) % places.length;
  } else {
    hits.index = (hits.index + direction + places.length) % places.length;
  }
  const [from, to] = places[hits.index];
  scrollToPlace(from);
  renderHits();
  say(`Hit ${hits.index + 1} of ${places.length}: ${context({ from, to })}`);
}

function setUpSearch() {
  const input = byId("query");
  input.addEventListener("input", () => {
    state.query = input.value;
    find();
    renderCast();
  });
  byId("search").addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") stepHit(event.shiftKey ? -1 : 1);
    if (event.key === "Escape") {
      input.value = state.query = "";
      find();
      renderCast();
      view.focus({ preventScroll: true });
    }
  });
  byId("hit-previous").addEventListener("click", () => stepHit(-1));
  byId("hit-next").addEventListener("click", () => stepHit(1));
  on("drawn", markHits);
}
