// Corrections by hand. Each is a change: mentions that move to another entity (or to none), and facts that are set on
// entities or mentions. To apply a change gives the change that undoes it.

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
  return { label: `${entity.name} is now called ${name}`, facts: [[entity, { name }]] };
}

/** A type for an entity is one for all its mentions: what they said themselves is dropped. */
function retyping(entity, type) {
  const facts = entity.mentions.map((mention) => [mention, { type: undefined }]);
  return { label: `${entity.name} is now ${type ?? "without type"}`, facts: [[entity, { type }], ...facts] };
}

/** Two entities are one: the first, with its name and type; what the other said, or was told, is its too. */
function merging(doc, entity, other) {
  const facts = ["speaker", "addressee"].flatMap((role) =>
    doc.quotes.filter((quote) => quote[role] === other).map((quote) => [quote, { [role]: entity }]),
  );
  return { label: `${other.name} is the same as ${entity.name}`, moves: moved(other.mentions, entity), facts };
}

/** Some mentions of an entity are a new one, which joins the document. */
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
