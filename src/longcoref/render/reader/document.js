// The document: a text, its mentions and quotations in text order, and its entities. It is made from a record of the schema
// longcoref/1, embedded in the page or opened from a file, and can be turned back into one. Records count code points; the
// browser counts UTF-16 units.

const SCHEMA = "longcoref/1";

/** The running sums of a list of differences. */
function sums(differences) {
  let total = 0;
  return differences.map((difference) => (total += difference));
}

function pairs(numbers) {
  return Array.from({ length: numbers.length / 2 }, (_, index) => [numbers[2 * index], numbers[2 * index + 1]]);
}

/** The record that render/html.py packed into columns. */
function unpacked({ mentions, kinds, types, quotes, ...record }) {
  for (const key of ["words", "sentences"]) {
    if (record[key]) record[key] = pairs(sums(record[key]));
  }
  const clusters = record.clusters.map((cluster) => ({ ...cluster, mentions: [] }));
  const starts = sums(mentions.start);
  const sentences = sums(mentions.sentence);
  starts.forEach((start, index) => {
    const mention = { start, end: start + mentions.length[index], kind: kinds[mentions.kind[index]] };
    if (mentions.type[index] >= 0) mention.type = types[mentions.type[index]];
    if (mentions.score[index] >= 0) mention.score = mentions.score[index] / 10000;
    mention.sentence = sentences[index];
    clusters[mentions.cluster[index]].mentions.push(mention);
  });
  return { ...record, clusters, quotes: quotes && unpackedQuotes(quotes, clusters) };
}

function unpackedQuotes(packed, clusters) {
  const continues = new Set(packed.continues);
  return sums(packed.start).map((start, index) => ({
    start,
    end: start + packed.length[index],
    speaker: clusters[packed.speaker[index]]?.id ?? null,
    addressee: clusters[packed.addressee[index]]?.id ?? null,
    score: packed.score[index] < 0 ? undefined : packed.score[index] / 10000,
    continues: continues.has(index) || undefined,
  }));
}

/** The number of code points of a text. */
function codePoints(text) {
  let count = text.length;
  for (const _ of text.matchAll(/[\u{10000}-\u{10FFFF}]/gu)) count--;
  return count;
}

/** Functions that convert code points of a text to UTF-16 units, and units to code points. */
function offsetsOf(text) {
  const wide = Array.from(text.matchAll(/[\u{10000}-\u{10FFFF}]/gu), (match, count) => match.index - count);
  if (!wide.length) return { toUnit: (point) => point, toPoint: (unit) => unit };
  const units = wide.map((place, count) => place + count);
  return {
    toUnit: (point) => point + lowerBound(wide, point, (place) => place),
    toPoint: (unit) => unit - lowerBound(units, unit, (place) => place),
  };
}

/** The number of items, sorted by `key`, whose key is less than `value`. */
function lowerBound(items, value, key) {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(items[middle]) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The document of a record. Entities, mentions and quotations are plain objects, and refer to each other. `colours` has the
 * numbers of entities that have a colour already, by their ids.
 */
function documentOf({ text, clusters, quotes: spoken = [], ...rest }, colours = new Map()) {
  const { toUnit, toPoint } = offsetsOf(text);
  const entities = [];
  const mentions = [];
  for (const [number, { id, name, type, mentions: said }] of clusters.entries()) {
    const entity = { id: id ?? number, name, type: type ?? null, mentions: [], quotes: [] };
    entities.push(entity);
    for (const { start, end, kind, type: own, score, sentence } of said) {
      const [from, to] = [toUnit(start), toUnit(end)];
      mentions.push({ start, end, from, to, text: text.slice(from, to), kind: kind ?? null, type: own, score, sentence, entity });
    }
  }
  const byNumber = new Map(entities.map((entity) => [entity.id, entity]));
  const quotes = spoken.map(({ start, end, speaker, addressee, score, continues }) => ({
    start, end, from: toUnit(start), to: toUnit(end), score, continues,
    speaker: byNumber.get(speaker) ?? null,
    addressee: byNumber.get(addressee) ?? null,
  }));
  for (const spans of [mentions, quotes]) arrange(spans);
  const result = { text, rest, toUnit, toPoint, entities, mentions, quotes, cast: [], colours };
  regroup(result);
  for (const entity of entities) entity.name ??= nameOf(entity.mentions);
  for (const { decision, entity, name } of rest.corrections ?? []) {
    const named = decision === "name" && spanAt(result, entity)?.entity;
    if (named && named.name === name) named.given = true;
  }
  paintCast(result);
  return result;
}

/** Sorts spans by their place in the text, outer ones before inner ones, and numbers them. */
function arrange(spans) {
  spans.sort((a, b) => a.from - b.from || b.to - a.to);
  spans.forEach((span, index) => (span.index = index));
  spans.longest = spans.reduce((most, { from, to }) => Math.max(most, to - from), 0);
}

/** The code points at which the words of the text begin. A record without words is split at white space. */
function wordStarts(doc) {
  doc.starts ??= doc.rest.words
    ? doc.rest.words.map(([start]) => start)
    : Array.from(doc.text.matchAll(/\S+/g), ({ index }) => doc.toPoint(index));
  return doc.starts;
}

/** Updates the mentions and quotations of every entity, and the cast: the entities with mentions, the most frequent first. */
function regroup(doc) {
  doc.meetings = null;
  for (const entity of doc.entities) [entity.mentions, entity.quotes, entity.wordings] = [[], [], null];
  for (const mention of doc.mentions) mention.entity?.mentions.push(mention);
  // A quotation of several paragraphs counts once.
  for (const quote of doc.quotes) if (!quote.continues) quote.speaker?.quotes.push(quote);
  doc.cast = doc.entities
    .filter((entity) => entity.mentions.length)
    .sort((a, b) => b.mentions.length - a.mentions.length || a.mentions[0].index - b.mentions[0].index);
}

/** The spans, of those sorted by start, that overlap a range of the text. */
function within(spans, { from, to }) {
  const first = lowerBound(spans, from - spans.longest, (span) => span.from);
  return spans.slice(first, lowerBound(spans, to, (span) => span.from)).filter((span) => span.to > from);
}

/** The entity, or null if it has no mentions left. */
function present(entity) {
  return entity?.mentions.length ? entity : null;
}

/** Gives colours to the cast in the order of rank; an entity that has one keeps it. */
function paintCast({ cast, colours }) {
  for (const { id, mentions } of cast) if (mentions.length > 1 && !colours.has(id)) colours.set(id, colours.size);
  cast.forEach((entity, rank) => paint(entity, colours.get(entity.id) ?? rank));
}

/** Sets the hue of an entity; neighbours in number get hues far apart. */
function paint(entity, number) {
  entity.hue = Math.round((255 + number * 137.508) % 360);
}

/** A name for a cluster without one: the most frequent proper name, or else description, or else pronoun. */
function nameOf(mentions) {
  for (const kind of ["PROP", "NOM"]) {
    const [first] = wordingsOf(mentions.filter((mention) => mention.kind === kind));
    if (first) return first[0];
  }
  return oneLine(mentions[0].text);
}

/** The different wordings of mentions with their counts, the most frequent first. */
function wordingsOf(mentions) {
  return tally(mentions.map(({ text }) => oneLine(text)));
}

/** The different values with their counts, the most frequent first. */
function tally(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function oneLine(text) {
  return text.replace(/\s+/g, " ");
}

/** The document as a record, with more decisions and all other fields of the record that it was made from. */
function recordOf({ text, rest, cast, quotes: spoken }, decisions = []) {
  const inOrder = [...cast].sort((a, b) => a.mentions[0].index - b.mentions[0].index);
  const clusters = inOrder.map(({ id, name, type, mentions }) => ({
    id,
    name,
    type,
    // JSON.stringify leaves out what is undefined.
    mentions: mentions.map((m) => ({
      start: m.start, end: m.end, text: m.text, kind: m.kind, type: m.type, score: m.score, sentence: m.sentence,
    })),
  }));
  const idOf = (entity) => present(entity)?.id ?? null;
  const quotes = spoken.map(({ start, end, speaker, addressee, score, continues }) => ({
    start, end, speaker: idOf(speaker), addressee: idOf(addressee), score, continues,
  }));
  const corrections = [...(rest.corrections ?? []), ...decisions];
  const ifAny = (list) => (list.length ? list : undefined);
  return { ...rest, text, clusters, quotes: ifAny(quotes), corrections: ifAny(corrections) };
}
