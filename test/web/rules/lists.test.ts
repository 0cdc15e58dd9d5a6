import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  beginOf,
  type ChainedPage,
  heldRows,
  type PageChain,
  pagesToRead,
  rowsOf,
  withPage,
} from '../../../web/rules/lists.js';

const page = (ids: string, next: string): ChainedPage<string> => ({ items: [...ids], next });
const three: PageChain<string> = [page('abc', 'd'), page('def', 'g'), page('ghi', 'j')];

it.each([
  { title: 'the first and those that are shown', shown: [4, 5], wanted: 1, read: [0, 1] },
  { title: 'all pages that a row of is shown', shown: [2, 7], wanted: 1, read: [0, 1, 2] },
  { title: 'only the first one while nothing is shown', shown: [0, 0], wanted: 1, read: [0] },
  { title: 'what is wanted and was never read', shown: [0, 3], wanted: 5, read: [0, 3, 4] },
  { title: 'not a page that begins where the shown rows end', shown: [0, 3], wanted: 3, read: [0] },
] as const)('of the pages are read $title', ({ shown, wanted, read }) => {
  expect(pagesToRead(three, shown, wanted)).toEqual(read);
});

it('a page begins where the one before it ended, and none begins behind the end', () => {
  expect([0, 1, 2, 3].map((at) => beginOf(three, at))).toEqual(['', 'd', 'g', 'j']);
  expect(beginOf([page('abc', '')], 1)).toBeUndefined();
  expect(beginOf([], 1)).toBeUndefined();
});

it('the last page of a list that became shorter ends the chain', () => {
  expect(withPage(three, 1, page('de', ''))).toEqual([page('abc', 'd'), page('de', '')]);
});

it('a record that has moved to an earlier page is shown once', () => {
  expect(rowsOf(withPage(three, 0, page('hab', 'c')), (id) => id).join('')).toBe('habdefgi');
});

it('whatever changes between reads, no row is there twice, the shown pages are as the server has them, and a whole read is the list', () => {
  const change = fc.record({
    removed: fc.array(fc.nat(30), { maxLength: 4 }),
    added: fc.array(fc.nat(30), { maxLength: 4 }),
    shown: fc.tuple(fc.nat(30), fc.nat(12)).map(([from, count]) => [from, from + count] as const),
    wanted: fc.nat(12),
  });
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(30), { maxLength: 30 }), fc.array(change, { maxLength: 8 }), (start, changes) => {
      const server = new Set(start);
      let chain: PageChain<string> = [];
      const listed = () => [...server].sort((one, other) => one - other).map(String);
      const read = (shown: readonly [number, number], wanted: number) => {
        for (const at of pagesToRead(chain, shown, wanted)) {
          const begin = beginOf(chain, at);
          if (begin === undefined) break;
          const left = listed().filter((id) => Number(id) >= Number(begin));
          chain = withPage(chain, at, { items: left.slice(0, 3), next: left[3] ?? '' });
        }
      };
      for (const { removed, added, shown, wanted } of changes) {
        for (const id of removed) server.delete(id);
        for (const id of added) server.add(id);
        read(shown, wanted);
        const rows = rowsOf(chain, (id) => id);
        expect(new Set(rows).size).toBe(rows.length);
        expect(rows.slice(0, 3)).toEqual(listed().slice(0, 3));
      }
      read([0, Number.POSITIVE_INFINITY], 20);
      expect(rowsOf(chain, (id) => id)).toEqual(listed());
    }),
  );
});

it.each([
  { title: 'nothing has changed', present: 'abc', rows: 'abc', changes: 0 },
  { title: 'further rows are loaded behind', present: 'abcde', rows: 'abcde', changes: 0 },
  { title: 'a row appears in front', present: 'zabc', rows: 'abc', changes: 1 },
  { title: 'a row appears between, and one is loaded', present: 'abzcd', rows: 'abcd', changes: 1 },
  { title: 'a row vanishes', present: 'ac', rows: 'abc', changes: 1 },
  { title: 'a row moves', present: 'cab', rows: 'abc', changes: 1 },
  { title: 'the last row moves, and others are loaded', present: 'cabde', rows: 'abcde', changes: 1 },
  { title: 'all rows are others', present: 'xy', rows: 'abc', changes: 5 },
  { title: 'all rows vanish', present: '', rows: 'abc', changes: 3 },
])('while a list is held and $title, it shows $rows', ({ present, rows, changes }) => {
  const held = heldRows([...'abc'], [...present], (id) => id);
  expect([held.rows.join(''), held.changes]).toEqual([rows, changes]);
});
