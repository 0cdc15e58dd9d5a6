/** Words that need no quotes in a POSIX shell; a leading tilde and an assignment-like first word are quoted, too. */
const plainWord = /^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*$/;

/** A word quoted for a POSIX shell. NUL bytes, which arguments cannot contain, are left out. */
export function shellWord(word: string): string {
  const passed = word.replaceAll('\0', '');
  return plainWord.test(passed) ? passed : `'${passed.replaceAll("'", `'\\''`)}'`;
}

/** Words as one shell command line. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
