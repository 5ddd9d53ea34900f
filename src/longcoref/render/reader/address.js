// The address of the page names the selected entity and the place in the text, so that it can be kept as a link:
// #person=3&word=1204. Words are counted from 0, as in the JSON and in BookNLP's files.

const PAUSE = 250; // milliseconds: browsers refuse to change the address often, and stepping should be quick
let isFollowing = false; // while an address is being followed, it does not change
let waiting = 0;

function wordAt(place) {
  return Math.max(0, lowerBound(wordStarts(state.doc), state.doc.toPoint(place) + 1, (start) => start) - 1);
}

function addressOf(entity, place) {
  const parts = [entity && `person=${encodeURIComponent(entity.id)}`, place !== undefined && `word=${wordAt(place)}`];
  return `#${parts.filter(Boolean).join("&")}`;
}

/** Puts the selection and the place in the text into the address: a new entry in the history for another entity or chapter. */
function remember(place) {
  if (isFollowing) return;
  clearTimeout(waiting);
  const person = new URLSearchParams(location.hash.slice(1)).get("person");
  const isNew = place !== undefined || (state.selected ? String(state.selected.id) : null) !== person;
  if (isNew) writeAddress("pushState", place);
  else waiting = setTimeout(writeAddress, PAUSE, "replaceState");
}

function writeAddress(how, place = (state.current ?? state.quote)?.from) {
  const address = addressOf(state.selected, place);
  if (address !== (location.hash || "#")) history[how](null, "", address === "#" ? location.pathname + location.search : address);
}

/** Selects the entity and goes to the place that the address names. */
function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const { doc } = state;
  const entity = doc.cast.find(({ id }) => String(id) === wanted.get("person")) ?? null;
  const start = wordStarts(doc)[wanted.get("word") ?? -1];
  const from = start === undefined ? undefined : doc.toUnit(start);
  const mention = entity?.mentions.find((one) => one.from === from) ?? null;
  const quote = mention ? null : (entity?.quotes.find((one) => one.from === from) ?? null);
  isFollowing = true;
  select(entity, mention, quote);
  if (from !== undefined) {
    showNetwork(false);
    scrollToPlace(from, mention || quote ? 0.35 : 0.02);
  } else if (entity) {
    step(1);
  }
  isFollowing = false;
}

/** A link to the selected entity and the place that is shown. */
function linkHere() {
  const place = (state.current ?? state.quote)?.from ?? visibleRange().from;
  return new URL(addressOf(state.selected, place), location.href).href;
}

async function copyLink() {
  const link = linkHere();
  try {
    await navigator.clipboard.writeText(link);
    announce("The link is in the clipboard");
  } catch {
    history.pushState(null, "", link);
    announce("The link is in the address bar");
  }
}

function setUpAddress() {
  on("selection current", () => remember());
  on("opened", () => history.replaceState(null, "", location.pathname + location.search)); // it was about another text
  addEventListener("popstate", follow);
}
