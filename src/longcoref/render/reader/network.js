// The network of characters: who is mentioned in the same paragraphs, in all of the text or in some chapters. It is laid out
// when it is first shown, and people keep their places while the chapters change.

const SVG = "http://www.w3.org/2000/svg";
const MOST_PEOPLE = 30;
const MOST_TIES = 60; // drawn at first; the field shows more
const ROUNDS = 250;
const network = byId("network");
const range = { first: 0, last: 0 };
const layout = { doc: null, people: [], places: [] };

/** The paragraphs that mention characters: {from, chapter, people}. A character is a person with at least two mentions. */
function meetingsOf(doc) {
  if (doc.meetings) return doc.meetings;
  const starts = (doc.paragraphs ??= [0, ...Array.from(doc.text.matchAll(/\n\s*\n|\r\s*\r/g), ({ index }) => index)]);
  const found = new Map();
  for (const { from, entity } of doc.mentions) {
    if (!entity || !isCharacter(entity)) continue;
    const number = lowerBound(starts, from + 1, (start) => start) - 1;
    if (!found.has(number)) found.set(number, { from, chapter: chapterAt(from), people: new Set() });
    found.get(number).people.add(entity);
  }
  return (doc.meetings = [...found.values()]);
}

function isCharacter({ type, mentions }) {
  return ["PER", null].includes(type) && mentions.length > 1;
}

/** The number of paragraphs that an entity shares with each other one in a range of chapters, the most frequent first. */
function companionsOf(entity, { first, last } = { first: 0, last: Infinity }) {
  const together = meetingsOf(state.doc).filter(({ chapter, people }) => people.has(entity) && chapter >= first && chapter <= last);
  return tally(together.flatMap(({ people }) => [...people].filter((other) => other !== entity)));
}

/** How often people are in a paragraph, and in one together: counts, and ties [first, second, paragraphs] by place in `people`. */
function tiesOf(doc, people, { first, last }) {
  const numbers = new Map(people.map((entity, number) => [entity, number]));
  const counts = people.map(() => 0);
  const shared = [];
  for (const meeting of meetingsOf(doc)) {
    if (meeting.chapter < first || meeting.chapter > last) continue;
    const here = Array.from(meeting.people, (entity) => numbers.get(entity)).filter((number) => number !== undefined).sort((a, b) => a - b);
    here.forEach((one, index) => {
      counts[one]++;
      for (const other of here.slice(index + 1)) shared.push(one * people.length + other);
    });
  }
  return { counts, ties: tally(shared).map(([pair, count]) => [Math.floor(pair / people.length), pair % people.length, count]) };
}

/** Places in a square of side 1: people who are often together attract each other, all others keep their distance. */
function placesOf({ counts, ties }) {
  const places = counts.map((_, number) => {
    const [angle, far] = [number * 2.39996, 0.42 * Math.sqrt((number + 0.5) / counts.length)];
    return { x: 0.5 + far * Math.cos(angle), y: 0.5 + far * Math.sin(angle) };
  });
  const apart = 0.75 / Math.sqrt(counts.length || 1);
  // Relative to how often both appear; otherwise the hero would attract everybody.
  const bonds = ties.map(([one, other, count]) => [one, other, count / Math.sqrt(counts[one] * counts[other])]);
  for (let round = 0; round < ROUNDS; round++) {
    const pushes = pushesOn(places, apart, bonds);
    const step = 0.06 * (1 - round / ROUNDS);
    pushes.forEach(({ x, y }, number) => {
      const far = Math.hypot(x, y) || 1;
      places[number].x += (x / far) * Math.min(far, step);
      places[number].y += (y / far) * Math.min(far, step);
    });
  }
  return places;
}

function pushesOn(places, apart, bonds) {
  const pushes = places.map(({ x, y }) => ({ x: (0.5 - x) * 0.5, y: (0.5 - y) * 0.5 })); // towards the middle
  const push = (one, other, strength) => {
    const [x, y] = [places[one].x - places[other].x, places[one].y - places[other].y];
    const far = Math.max(Math.hypot(x, y), 0.01);
    const force = strength(far) / far;
    pushes[one].x += force * x;
    pushes[one].y += force * y;
    pushes[other].x -= force * x;
    pushes[other].y -= force * y;
  };
  for (let one = 0; one < places.length; one++) {
    for (let other = 0; other < one; other++) push(one, other, (far) => (apart * apart) / far);
  }
  for (const [one, other, bond] of bonds) push(one, other, (far) => -((far * far) / apart) * 3 * bond);
  return pushes;
}

/** Chooses the people and lays them out, for all of the text. */
function layOut() {
  const { doc } = state;
  const everywhere = { first: 0, last: Infinity };
  const frequent = doc.cast.filter(isCharacter).slice(0, MOST_PEOPLE);
  const tied = new Set(tiesOf(doc, frequent, everywhere).ties.flatMap(([one, other]) => [one, other]));
  const people = frequent.filter((_, number) => tied.has(number) || tied.size === 0);
  const { counts, ties } = tiesOf(doc, people, everywhere);
  if (layout.doc !== doc) byId("ties").value = ties[MOST_TIES]?.[2] ?? 1;
  Object.assign(layout, { doc, meetings: meetingsOf(doc), people, places: placesOf({ counts, ties }) });
}

/** Scales places to a picture, half by distance and half by rank, so that it is filled evenly; labels that overlap move apart. */
function spread(boxes, width, height) {
  const fit = (key, size, margin) => {
    const values = boxes.map((box) => box[key]).sort((a, b) => a - b);
    const [least, most] = [values[0], values.at(-1)];
    for (const box of boxes) {
      const share = most > least ? ((box[key] - least) / (most - least) + values.indexOf(box[key]) / (values.length - 1)) / 2 : 0.5;
      box[key] = margin(box) + share * (size - 2 * margin(box));
    }
  };
  fit("x", width, ({ wide }) => wide / 2 + 8);
  fit("y", height, () => 34);
  for (let round = 0; round < 150; round++) {
    for (const [index, one] of boxes.entries()) {
      for (const other of boxes.slice(0, index)) {
        const [x, y] = [(one.wide + other.wide) / 2 + 6 - Math.abs(one.x - other.x), 40 - Math.abs(one.y - other.y)];
        if (x <= 0 || y <= 0) continue;
        const key = x < y * 2 ? "x" : "y";
        const shift = ((key === "x" ? x : y) / 3) * (one[key] < other[key] ? -1 : 1);
        one[key] += shift;
        other[key] -= shift;
      }
    }
    for (const box of boxes) {
      box.x = Math.min(width - box.wide / 2 - 4, Math.max(box.wide / 2 + 4, box.x));
      box.y = Math.min(height - 26, Math.max(22, box.y));
    }
  }
  return boxes;
}

/** Creates an element of a picture. */
function draft(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** The picture of the chosen chapters. `dark` says for which background; colours are plain, so that every program shows them. */
function networkPicture(width, height, dark) {
  const { people, places } = layout;
  const { counts, ties } = tiesOf(state.doc, people, range);
  const least = Math.max(1, Number(byId("ties").value) || 1);
  const room = Math.max(8, (width * height) / 13_000); // people
  const shown = ties.filter(([one, other, count]) => count >= least && Math.max(one, other) < room);
  const tied = new Set(shown.flatMap(([one, other]) => [one, other]));
  const isDrawn = (entity, number) => tied.has(number) || entity === state.selected;
  const boxes = people.map((entity, number) => ({ ...places[number], wide: Math.max(34, 7.5 * labelOf(entity).length) }));
  spread(boxes.filter((_, number) => number < room), width, height);
  const most = Math.max(1, ...shown.map(([, , count]) => count));
  const svg = draft("svg", { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "Georgia, serif" });
  for (const [one, other, count] of shown.toReversed()) svg.append(tieLine(boxes, one, other, count, most, dark));
  const widest = Math.max(1, ...counts);
  people.forEach((entity, number) => {
    if (isDrawn(entity, number)) svg.append(personMark(entity, boxes[number], counts[number], widest, shown, number, dark));
  });
  return { svg, ties: shown, drawn: people.filter(isDrawn).length };
}

function labelOf({ name }) {
  return shortened(oneLine(name), 24);
}

function tieLine(boxes, one, other, count, most, dark) {
  const { people } = layout;
  const ours = [people[one], people[other]].includes(state.selected);
  const line = draft("line", {
    x1: boxes[one].x, y1: boxes[one].y, x2: boxes[other].x, y2: boxes[other].y,
    stroke: plain(ours ? colour(state.selected, 1, dark) : ink(1, dark)),
    "stroke-width": (0.8 + 7 * Math.sqrt(count / most)).toFixed(1),
    "stroke-opacity": ours ? 0.65 : state.selected ? 0.08 : 0.2,
    "stroke-linecap": "round",
  });
  line.append(draft("title", {}, `${oneLine(people[one].name)} and ${oneLine(people[other].name)}: together in ${counted(count, "paragraph")}`));
  return line;
}

function personMark(entity, { x, y }, count, widest, ties, number, dark) {
  const near = ties.filter(([one, other]) => one === number || other === number).length;
  const radius = count ? 4 + 12 * Math.sqrt(count / widest) : 3;
  const isChosen = entity === state.selected;
  const mark = draft("g", { class: "person", role: "button", tabindex: 0, "aria-pressed": isChosen, "data-person": number });
  mark.setAttribute("aria-label", `${oneLine(entity.name)}, in ${counted(count, "paragraph")}, together with ${near} others`);
  mark.append(
    draft("circle", { cx: x, cy: y, r: radius.toFixed(1), fill: plain(colour(entity, 1, dark)), stroke: plain(isChosen ? ink(1, dark) : paper(dark)), "stroke-width": 2 }),
    draft("text", {
      x, y: y + radius + 14, "text-anchor": "middle", "font-size": 14, "font-weight": isChosen ? 700 : 400,
      fill: plain(ink(1, dark)), stroke: plain(paper(dark)), "stroke-width": 4, "stroke-linejoin": "round", "paint-order": "stroke",
    }, labelOf(entity)),
    draft("title", {}, `${oneLine(entity.name)}: in ${counted(count, "paragraph")}`),
  );
  return mark;
}

function drawNetwork() {
  if (network.hidden) return;
  if (layout.doc !== state.doc || layout.meetings !== meetingsOf(state.doc)) layOut();
  const picture = byId("network-picture");
  const focused = document.activeElement?.dataset?.person;
  const { svg, ties, drawn: people } = networkPicture(Math.max(300, picture.clientWidth), Math.max(240, picture.clientHeight), isDark());
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", "Network of characters");
  picture.replaceChildren(svg);
  if (focused !== undefined) svg.querySelector(`[data-person="${focused}"]`)?.focus();
  const [strongest] = ties;
  byId("network-note").textContent = !layout.people.length ? "There are no people with at least two mentions."
    : `${counted(people, "character")}, ${counted(ties.length, "pair")}` +
      (strongest ? `; most often together: ${strongest.slice(0, 2).map((number) => oneLine(layout.people[number].name)).join(" and ")}, in ${counted(strongest[2], "paragraph")}.` : ".");
}

/** Sets the fields for the chapters, and shows all of them. */
function resetRange() {
  const { chapters } = state;
  Object.assign(range, { first: 0, last: Math.max(0, chapters.length - 1) });
  byId("network-range").hidden = !chapters.length;
  for (const field of [byId("range-first"), byId("range-last")]) {
    field.replaceChildren(...chapters.map(({ title }, number) => make("option", { value: number }, shortened(title, 40))));
  }
  showRange();
}

function showRange() {
  byId("range-first").value = range.first;
  byId("range-last").value = range.last;
  byId("range-back").disabled = !range.first;
  byId("range-on").disabled = range.last >= state.chapters.length - 1;
}

function setRange(first, last) {
  Object.assign(range, { first: Math.min(first, last), last: Math.max(first, last) });
  showRange();
  drawNetwork();
  drawStrips();
}

/** Moves the range by its own length, forward (1) or back (-1); from all chapters, to the first one or the last one. */
function moveRange(direction) {
  const length = range.last - range.first + 1;
  const end = state.chapters.length - 1;
  const first = Math.max(0, Math.min(end, range.first + direction * length));
  setRange(first, Math.min(end, first + length - 1));
}

/** Shows the network in place of the text, or the text again. */
function showNetwork(shown) {
  if (shown === !network.hidden) return;
  network.hidden = !shown;
  byId("open-network").ariaExpanded = String(shown);
  document.body.classList.toggle("network", shown);
  view.inert = shown;
  hideTip();
  drawNetwork();
  drawStrips();
  (shown ? network : view).focus({ preventScroll: true });
}

function networkFile() {
  layOut();
  const { svg } = networkPicture(1200, 800, false);
  svg.prepend(draft("title", {}, document.title), draft("rect", { width: 1200, height: 800, fill: plain(paper(false)) }));
  for (const mark of svg.querySelectorAll("[tabindex]")) for (const name of ["tabindex", "role", "aria-pressed"]) mark.removeAttribute(name);
  return new XMLSerializer().serializeToString(svg);
}

function setUpNetwork() {
  const picture = byId("network-picture");
  const choosePerson = ({ target }) => {
    const number = target.closest("[data-person]")?.dataset.person;
    if (number === undefined) return false;
    const entity = layout.people[number];
    select(entity === state.selected && !state.picking ? null : entity);
    return true;
  };
  picture.addEventListener("click", choosePerson);
  picture.addEventListener("keydown", (event) => {
    if ((event.key === "Enter" || event.key === " ") && choosePerson(event)) event.preventDefault();
  });
  byId("open-network").addEventListener("click", () => showNetwork(network.hidden));
  byId("network-close").addEventListener("click", () => showNetwork(false));
  byId("ties").addEventListener("input", drawNetwork);
  byId("range-first").addEventListener("change", ({ target }) => setRange(Number(target.value), Math.max(Number(target.value), range.last)));
  byId("range-last").addEventListener("change", ({ target }) => setRange(Math.min(Number(target.value), range.first), Number(target.value)));
  byId("range-back").addEventListener("click", () => moveRange(-1));
  byId("range-on").addEventListener("click", () => moveRange(1));
  new ResizeObserver(drawNetwork).observe(picture);
  on("opened", resetRange);
  on("document selection theme", drawNetwork);
}
