/** Words that every POSIX shell passes on as they are; a leading tilde and an assignment-like first word are quoted, too. */
const plainWord = /^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=-]*$/;

/** A word, quoted so that a POSIX shell passes it on unchanged. A NUL byte cannot be an argument and is left out. */
export function shellWord(word: string): string {
  const passed = word.replaceAll('\0', '');
  return plainWord.test(passed) ? passed : `'${passed.replaceAll("'", `'\\''`)}'`;
}

/** Words as one line for a shell. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
