// Checks a record of the schema longcoref/1 before it is opened, so that a bad file leaves the open document as it is.

const LONGEST_NAME = 1000;
const FIELD = 200; // the most characters of a type, kind or other label

function fail(where, wanted, got) {
  const said = typeof got === "object" && got ? (Array.isArray(got) ? "a list" : "an object") : (JSON.stringify(got) ?? "nothing");
  throw new Error(`${where}: expected ${wanted}, got ${said.length > 60 ? `${said.slice(0, 60)}… (${said.length} characters)` : said}`);
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is missing or null, or a string of at most `most` characters. */
function isLabel(value, most = FIELD) {
  return (value ?? null) === null || (typeof value === "string" && value.length <= most);
}

function isCount(value) {
  return Number.isSafeInteger(value) && value >= 0;
}

function checkList(value, where, wanted, check) {
  if (!Array.isArray(value)) fail(where, "a list", value);
  value.forEach((item, number) => {
    if (!isObject(item)) fail(`${where} ${number}`, wanted, item);
    check(item, `${where} ${number}`);
  });
}

function checkLabels(record, names, where) {
  for (const name of names) if (!isLabel(record[name])) fail(`${where}, ${name}`, `text of at most ${FIELD} characters`, record[name]);
}

function checkScore({ score }, where) {
  if (score !== undefined && !(typeof score === "number" && score >= 0 && score <= 1)) fail(`${where}, score`, "a number from 0 to 1", score);
}

/** A function that checks the offsets of a span, and the text between them where the span has it. */
function spanCheck(text) {
  const { toUnit } = offsetsOf(text);
  const length = codePoints(text);
  return ({ start, end, text: said }, where) => {
    if (!isCount(start)) fail(`${where}, start`, "a whole number from 0", start);
    if (!isCount(end) || end <= start) fail(`${where}, end`, `a whole number above ${start}`, end);
    if (end > length) fail(`${where}, end`, `at most ${length}, the length of the text`, end);
    const found = text.slice(toUnit(start), toUnit(end));
    if (said !== undefined && said !== found) fail(`${where} belongs to another text`, JSON.stringify(found.slice(0, 60)), said);
  };
}

function checkMention(mention, where, checkSpan) {
  checkSpan(mention, where);
  checkLabels(mention, ["kind", "type"], where);
  checkScore(mention, where);
  if (mention.sentence !== undefined && !isCount(mention.sentence)) fail(`${where}, sentence`, "a whole number from 0", mention.sentence);
}

function checkQuote(quote, where, checkSpan, ids) {
  checkSpan(quote, where);
  checkScore(quote, where);
  for (const role of ["speaker", "addressee"]) {
    if ((quote[role] ?? null) !== null && !ids.has(quote[role])) fail(`${where}, ${role}`, "the id of a cluster", quote[role]);
  }
  if (!["undefined", "boolean"].includes(typeof quote.continues)) fail(`${where}, continues`, "true or false", quote.continues);
}

/** Pairs of offsets, as in `words` and `sentences`. */
function checkPairs(pairs, where, checkSpan) {
  if ((pairs ?? null) === null) return;
  if (!Array.isArray(pairs)) fail(where, "a list", pairs);
  pairs.forEach((pair, number) => {
    if (!Array.isArray(pair) || pair.length !== 2) fail(`${where} ${number}`, "a pair of offsets", pair);
    checkSpan({ start: pair[0], end: pair[1] }, `${where} ${number}`);
  });
}

const PLACES = { same: ["entity", "other"], name: ["entity"], type: ["entity"], speaker: ["quote"], addressee: ["quote"] };
const PERHAPS = { move: ["from", "to"], speaker: ["entity"], addressee: ["entity"] };

/** What a person decided, as docs/formats.md has it. */
function checkCorrection(correction, where, checkSpan) {
  const { decision, mentions, name } = correction;
  if (!Object.hasOwn(CHANGES, decision)) fail(`${where}, decision`, `one of ${Object.keys(CHANGES).join(", ")}`, decision);
  for (const key of PLACES[decision] ?? []) checkPairs([correction[key]], `${where}, ${key}`, checkSpan);
  for (const key of PERHAPS[decision] ?? []) if ((correction[key] ?? null) !== null) checkPairs([correction[key]], `${where}, ${key}`, checkSpan);
  if (["move", "remove"].includes(decision)) {
    if (!Array.isArray(mentions) || !mentions.length) fail(`${where}, mentions`, "a list of at least one mention", mentions);
    checkPairs(mentions, `${where}, mention`, checkSpan);
  }
  if (decision === "name" && !(name && isLabel(name, LONGEST_NAME))) fail(`${where}, name`, `text of at most ${LONGEST_NAME} characters`, name);
  checkLabels(correction, ["type", "kind"], where);
}

/** Throws an error that says what is wrong with a record, and where. `text` is for records that have none. */
function validated(record, text) {
  if (!isObject(record) || record.schema !== SCHEMA) fail("the file", `one result of schema ${SCHEMA}`, record?.schema ?? record);
  const whole = { ...record, text: record.text ?? text };
  if (typeof whole.text !== "string") fail("text", "a string", whole.text);
  checkLabels(whole, ["id", "model", "genre"], "the file");
  if (whole.memory !== undefined && !isObject(whole.memory)) fail("memory", "an object", whole.memory);
  if (!isLabel(whole.memory?.policy)) fail("memory, policy", "text", whole.memory.policy);
  if (!isCount(whole.memory?.capacity ?? 0)) fail("memory, capacity", "a whole number", whole.memory.capacity);
  const checkSpan = spanCheck(whole.text);
  const ids = new Set();
  checkList(whole.clusters, "cluster", "an object", (cluster, where) => {
    const id = cluster.id ?? ids.size;
    if (!isCount(id) && !(typeof id === "string" && isLabel(id))) fail(`${where}, id`, "a whole number or text", id);
    if (ids.has(id)) fail(`${where}, id`, "a unique id", id);
    ids.add(id);
    if (!isLabel(cluster.name, LONGEST_NAME)) fail(`${where}, name`, `text of at most ${LONGEST_NAME} characters`, cluster.name);
    checkLabels(cluster, ["type"], where);
    checkList(cluster.mentions, `${where}, mention`, "an object", (mention, place) => checkMention(mention, place, checkSpan));
    if (!cluster.mentions.length) fail(`${where}, mentions`, "at least one", undefined);
  });
  checkList(whole.quotes ?? [], "quote", "an object", (quote, where) => checkQuote(quote, where, checkSpan, ids));
  checkList(whole.corrections ?? [], "correction", "an object", (correction, where) => checkCorrection(correction, where, checkSpan));
  for (const name of ["words", "sentences"]) checkPairs(whole[name], name, checkSpan);
  return whole;
}
