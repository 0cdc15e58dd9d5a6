import { suggestName } from '../../src/options/option-kinds.js';

/** `; did you mean NAME?` if a known name is similar or differs only in case, else an empty string. */
export function didYouMean(given: string, known: readonly string[]): string {
  const near = nearName(given, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function nearName(given: string, known: readonly string[]): string | undefined {
  const lower = given.toLowerCase();
  return known.find((name) => name.toLowerCase() === lower) ?? suggestName(given, known);
}
