// Corrections. Each is a change: mentions that move to another entity (or to none), and properties that are set on entities,
// mentions or quotations. Applying a change returns the change that undoes it.

function apply(doc, { label, moves = [], facts = [] }) {
  const back = {
    label,
    moves: moves.map(([mention]) => [mention, mention.entity]),
    facts: facts.map(([thing, values]) => [thing, Object.fromEntries(Object.keys(values).map((key) => [key, thing[key]]))]),
  };
  for (const [mention, entity] of moves) mention.entity = entity;
  for (const [thing, values] of facts) Object.assign(thing, values);
  regroup(doc);
  return back;
}

function renaming(entity, name) {
  return { label: `Renamed ${entity.name} to ${name}`, facts: [[entity, { name }]] };
}

/** Sets the type of an entity and of all its mentions. */
function retyping(entity, type) {
  const facts = entity.mentions.map((mention) => [mention, { type: undefined }]);
  return { label: `${entity.name} is now ${type ?? "without a type"}`, facts: [[entity, { type }], ...facts] };
}

/** Merges another entity into one, which keeps its name and type, and takes over the quotations. */
function merging(doc, entity, other) {
  const facts = ["speaker", "addressee"].flatMap((role) =>
    doc.quotes.filter((quote) => quote[role] === other).map((quote) => [quote, { [role]: entity }]),
  );
  return { label: `Merged ${other.name} into ${entity.name}`, moves: moved(other.mentions, entity), facts };
}

/** Makes some mentions of an entity a new entity. */
function splitting(doc, mentions) {
  const ids = doc.entities.map(({ id }) => id).filter(Number.isInteger);
  const { name, type } = mentions[0].entity;
  const entity = { id: Math.max(-1, ...ids) + 1, name: nameOf(mentions), type, mentions: [], quotes: [] };
  paint(entity, doc.entities.length);
  doc.entities.push(entity);
  const what = mentions.length === 1 ? `“${oneLine(mentions[0].text)}” is` : `${mentions.length} mentions are`;
  return { label: `${what} not ${name}`, moves: moved(mentions, entity), entity };
}

function removing(mentions, name) {
  return { label: `Removed ${name}`, moves: moved(mentions, null) };
}

function moved(mentions, entity) {
  return mentions.map((mention) => [mention, entity]);
}
