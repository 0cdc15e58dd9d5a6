import type { KeywordGroup } from '../part.js';
import { FITS, type Run } from '../run.js';

/** A keyword that bounds a number of characters, elements or members; `count` is null for values of other types. */
export function countKeyword(
  keyword: string,
  words: string,
  count: (value: unknown, run: Run) => number | null,
): KeywordGroup {
  const isLeast = keyword.startsWith('min');
  return {
    keywords: [keyword],
    read: ({ schema, refuse }) => {
      const bound = schema[keyword];
      if (!isCount(bound)) return refuse(keyword, 'must be a whole number, 0 or more');
      const message = `must have at ${isLeast ? 'least' : 'most'} ${bound} ${words}`;
      return (value, run, place) => {
        const found = count(value, run);
        if (found === null || (isLeast ? found >= bound : found <= bound)) return FITS;
        return run.unfit(place, `${message}, not ${found}`);
      };
    },
  };
}

export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}
