// The text as blocks, which are drawn or left out as a whole. Together they cover the text without gaps.

const LONGEST_BLOCK = 4000;
const UNWRAPPED = 160; // a longer line is a paragraph of its own, not one line of a wrapped paragraph
const PROSE = 45; // lines at least this long are joined; shorter ones are kept, as in verse

/** Blocks {from, to, kind}: heading, prose or verse. */
function blocksOf(text) {
  const blocks = [];
  let from = 0;
  let open = false; // whether there is anything but white space after `from`
  for (const { 0: line, index } of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const blank = !line.trim();
    if (open && (blank || line.length > UNWRAPPED)) {
      cut(blocks, text, from, index);
      [from, open] = [index, false];
    }
    if (blank) continue;
    open = true;
    if (line.length > UNWRAPPED) {
      cut(blocks, text, from, index + line.length);
      [from, open] = [index + line.length, false];
    }
  }
  if (open || !blocks.length) cut(blocks, text, from, text.length);
  else blocks.at(-1).to = text.length;
  return blocks;
}

/** Adds the block, in pieces if it is long. */
function cut(blocks, text, from, to) {
  const kind = kindOf(text.slice(from, to));
  while (to - from > LONGEST_BLOCK) {
    const space = text.lastIndexOf(" ", from + LONGEST_BLOCK);
    const end = space > from ? space + 1 : from + LONGEST_BLOCK;
    blocks.push({ from, to: end, kind });
    from = end;
  }
  blocks.push({ from, to, kind });
}

function kindOf(paragraph) {
  const lines = paragraph.trim().split("\n");
  const body = lines.join(" ");
  if (lines.length <= 3 && body.length < 90 && (/^(chapter|book|part|canto)\b.{0,60}$/i.test(body) || isCapital(body))) return "heading";
  return lines.slice(0, -1).every((line) => line.length >= PROSE) ? "prose" : "verse";
}

function isCapital(line) {
  return /\p{Lu}.*\p{Lu}/su.test(line) && line === line.toUpperCase();
}
