// The title of a text that nobody has named: what its header says, or a title above the first chapter.

const CHAPTER = /^(chapter|book|part|volume|letter|stave|canto|act|scene|prologue|epilogue|preface|introduction|contents)\b|^[ivxlc\d]+\W*$/i;
const LITTLE_WORDS = new Set("a an and as at but by for from in into nor of on or the to with".split(" "));
const ROMAN = /^c{0,3}(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})$/;
const LONGEST_TITLE = 80;

/** The title of a text, or null if it has none. */
function titleOf(text) {
  const head = text.slice(0, 4000);
  const stated = /project gutenberg/i.test(head) && head.match(/^Title:[ \t]*(\S.*(?:\r?\n[ \t]+\S.*)*)/m);
  if (stated) return oneLine(stated[1]);
  const [first, more] = head.trimStart().split(/\r?\n\s*\n/, 2).map((paragraph) => oneLine(paragraph).trim());
  return more && isTitle(first) ? titleCase(first) : null;
}

function isTitle(line) {
  return line.length <= LONGEST_TITLE && /^[\p{Lu}\d“"'‘]/u.test(line) && !/[.,;:”"]$/.test(line) && !CHAPTER.test(line);
}

/** The first words of a text, to stand for its title. */
function openingOf(text) {
  const paragraphs = text.slice(0, 4000).trim().split(/\r?\n\s*\n/).map((paragraph) => oneLine(paragraph).trim());
  const prose = paragraphs.find((paragraph) => !CHAPTER.test(paragraph) && /\p{Ll}/u.test(paragraph)) ?? paragraphs[0];
  return shortened(prose, 60);
}

/** The text, shortened to at most `most` characters and cut after a word. */
function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, most).replace(/\s+\S*$/, "").replace(/[,;:.\s]+$/, "")}…`;
}

/** A line in capitals as a title is usually written; other lines stay as they are. */
function titleCase(line) {
  if (!isCapital(line)) return line;
  return line.toLowerCase().replace(/[\p{L}\p{N}]+(?:['’]\p{L}+)?/gu, (word, place) => {
    if (ROMAN.test(word)) return word.toUpperCase();
    return place && LITTLE_WORDS.has(word) ? word : word.charAt(0).toUpperCase() + word.slice(1);
  });
}
