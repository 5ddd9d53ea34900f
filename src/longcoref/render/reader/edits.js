// Corrections. A decision is what a person decided, as a plain object that can be stored and made again; a change is what it
// does to a document: mentions that move to another entity (or to none), and properties that are set on entities, mentions or
// quotations. Applying a change returns the change that undoes it.

const NAME_KINDS = ["PRON", "NOM", "PROP"]; // the better name comes later
const PRONOUNS = new Set(
  ("i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours ourselves " +
    "they them their theirs themselves who whom whose").split(" "),
);

function apply(doc, { moves = [], facts = [], ...same }) {
  const back = {
    ...same,
    moves: moves.map(([mention]) => [mention, mention.entity]),
    facts: facts.map(([thing, values]) => [thing, Object.fromEntries(Object.keys(values).map((key) => [key, thing[key]]))]),
  };
  for (const [mention, entity] of moves) mention.entity = entity;
  for (const [thing, values] of facts) Object.assign(thing, values);
  regroup(doc);
  return back;
}

/** The change that a decision makes to a document; throws an error if the document lacks what the decision is about. */
function changeOf(doc, decision) {
  return { decision, ...CHANGES[decision.decision](doc, decision) };
}

const CHANGES = {
  /** Two entities are one: the second is merged into the first, which takes over its mentions and quotations. */
  same(doc, { entity, other }) {
    const [kept, merged] = [entityAt(doc, entity), entityAt(doc, other)];
    const facts = ["speaker", "addressee"].flatMap((role) =>
      doc.quotes.filter((quote) => quote[role] === merged).map((quote) => [quote, { [role]: kept }]),
    );
    if (doc.rest.narrator === merged.id) facts.push([doc.rest, { narrator: kept.id }]);
    return { label: `Merged ${oneLine(merged.name)} into ${oneLine(kept.name)}`, moves: moved(merged.mentions, kept), facts };
  },

  /** Mentions, which may be new, belong to the entity `to` or, if that is null, to a new one. */
  move(doc, { mentions: places, to = null, kind }) {
    const mentions = places.map((place) => mentionAt(doc, place, kind));
    const before = mentions[0].entity;
    const entity = to === null ? newEntity(doc, mentions, before?.type ?? null) : entityAt(doc, to);
    return { label: moveLabel(mentions, before, entity), moves: moved(mentions, entity) };
  },

  remove(doc, { mentions: places }) {
    const mentions = places.map((place) => mentionAt(doc, place));
    const { entity } = mentions[0];
    const isAll = entity && mentions.length > 1 && mentions.length === entity.mentions.length;
    return { label: `Removed ${isAll ? oneLine(entity.name) : wordsOf(mentions)}`, moves: moved(mentions, null) };
  },

  name(doc, { entity: place, name }) {
    const entity = entityAt(doc, place);
    return { label: `Renamed ${oneLine(entity.name)} to ${name}`, facts: [[entity, { name, given: true }]] };
  },

  /** Sets the type of an entity and of all its mentions. */
  type(doc, { entity: place, type }) {
    const entity = entityAt(doc, place);
    const own = entity.mentions.map((mention) => [mention, { type: undefined }]);
    return { label: `${oneLine(entity.name)} is now ${type ?? "without a type"}`, facts: [[entity, { type }], ...own] };
  },

  speaker: assignment,
  addressee: assignment,
};

/** The speaker or the addressee of a quotation, which may have several paragraphs. */
function assignment(doc, { decision: role, quote: [start], entity: place }) {
  const entity = place ? entityAt(doc, place) : null;
  const parts = paragraphsOf(doc, doc.quotes[lowerBound(doc.quotes, doc.toUnit(start), (quote) => quote.from)]);
  const values = { [role]: entity, ...(role === "speaker" && { score: undefined }) };
  return { label: `The ${role} is ${entity ? oneLine(entity.name) : "unknown"}`, facts: parts.map((quote) => [quote, values]) };
}

/** The entity that a place [start, end] stands for: that of the mention there. */
function entityAt(doc, place) {
  const entity = spanAt(doc, place)?.entity;
  if (!entity) throw new Error(`there is no mention from ${place[0]} to ${place[1]}`);
  return entity;
}

/** The mention at a place; one that belongs to no entity is found only if no other is there. */
function spanAt({ mentions, toUnit }, [start, end]) {
  const from = toUnit(start);
  let found = null;
  for (let index = lowerBound(mentions, from, (mention) => mention.from); mentions[index]?.from === from; index++) {
    if (mentions[index].end === end && !found?.entity) found = mentions[index];
  }
  return found;
}

function mentionAt(doc, place, kind) {
  return spanAt(doc, place) ?? newMention(doc, place, kind);
}

/** A mention that does not belong to any entity yet. */
function newMention(doc, [start, end], kind = null) {
  const [from, to] = [doc.toUnit(start), doc.toUnit(end)];
  const text = doc.text.slice(from, to);
  const { sentences } = doc.rest;
  const sentence = sentences && Math.max(0, lowerBound(sentences, start + 1, ([first]) => first) - 1);
  const mention = { start, end, from, to, text, kind, type: undefined, score: undefined, sentence, entity: null };
  doc.mentions.push(mention);
  arrange(doc.mentions);
  return mention;
}

function kindOfWords(text) {
  if (PRONOUNS.has(text.toLowerCase())) return "PRON";
  return /(^|[\s-])\p{Lu}/u.test(text.replace(/^(The|A|An|My|His|Her|Their|Our|Your|This|That)\s/, "")) ? "PROP" : "NOM";
}

/** An entity without mentions, named after those that it is going to have. */
function newEntity(doc, mentions, type) {
  const id = doc.entities.reduce((most, entity) => (Number.isInteger(entity.id) ? Math.max(most, entity.id) : most), -1) + 1;
  const entity = { id, name: nameOf(mentions), type, mentions: [], quotes: [] };
  doc.colours.set(id, doc.colours.size);
  paint(entity, doc.colours.get(id));
  doc.entities.push(entity);
  return entity;
}

/** The quotation with the paragraphs that continue it. */
function paragraphsOf({ quotes }, quote) {
  let [first, last] = [quote.index, quote.index + 1];
  while (first > 0 && quotes[first].continues) first--;
  while (quotes[last]?.continues) last++;
  return quotes.slice(first, last);
}

function moveLabel(mentions, before, entity) {
  const isSplit = before && !entity.mentions.length;
  return `${wordsOf(mentions)}: ${isSplit ? `no longer ${oneLine(before.name)}` : `now ${oneLine(entity.name)}`}`;
}

function wordsOf(mentions) {
  return mentions.length === 1 ? `“${oneLine(mentions[0].text)}”` : counted(mentions.length, "mention");
}

function moved(mentions, entity) {
  return mentions.map((mention) => [mention, entity]);
}

/**
 * The place that stands for an entity in a decision, since its number means nothing to another result: a mention with its
 * name, or else the one that says most; null if all its mentions are among `others`.
 */
function placeFor({ name, mentions }, others = []) {
  const among = others.length ? mentions.filter((mention) => !others.includes(mention)) : mentions;
  const rank = (mention) => NAME_KINDS.indexOf(mention.kind) + (oneLine(mention.text) === oneLine(name) ? 10 : 0);
  const best = among.reduce((first, mention) => (first && rank(first) >= rank(mention) ? first : mention), null);
  return best && [best.start, best.end];
}

/** The decision that two entities are one. The one with the better name is kept. */
function merging(entity, other) {
  const [kept, merged] = hasBetterName(other, entity) ? [other, entity] : [entity, other];
  return { decision: "same", entity: placeFor(kept), other: placeFor(merged) };
}

/** Whether a name is better than another: given by a person, or else a proper name before a description, and the more frequent. */
function hasBetterName(entity, other) {
  const [ours, theirs] = [nameRank(entity), nameRank(other)];
  const place = ours.findIndex((value, index) => value !== theirs[index]);
  return place >= 0 && ours[place] > theirs[place];
}

function nameRank({ name, mentions, given }) {
  const same = mentions.filter(({ text }) => oneLine(text).toLowerCase() === oneLine(name).toLowerCase());
  const rank = (mention) => NAME_KINDS.indexOf(mention.kind);
  const best = (same.length ? same : mentions).reduce((most, mention) => Math.max(most, rank(mention)), -1);
  return [given ? 1 : 0, best, mentions.filter((mention) => rank(mention) === best).length];
}
