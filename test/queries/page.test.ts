import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { createdPositionOf, isUuid, namedPositionOf, namedTokenOf, readPage } from '../../src/queries/page.js';

function source(rows: readonly number[], accept: (row: number) => boolean, reads: number[] = []) {
  return {
    slice: (last: number | undefined, limit: number | undefined) => {
      const start = last === undefined ? 0 : rows.indexOf(last) + 1;
      const slice = rows.slice(start, limit === undefined ? undefined : start + limit);
      reads.push(slice.length);
      return slice;
    },
    accept,
    token: String,
  };
}

describe('readPage', () => {
  it('fills a page past what the filter refuses, and names the next match', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat()),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        (rows, perPage, modulo) => {
          const matching = rows.filter((row) => row % modulo === 0);
          const page = readPage(
            source(rows, (row) => row % modulo === 0),
            perPage,
          )._unsafeUnwrap();
          expect(page.items).toEqual(matching.slice(0, perPage));
          expect(page.nextToken).toBe(matching[perPage] === undefined ? '' : String(matching[perPage]));
        },
      ),
    );
  });

  it('reads no more of a long list than it needs', () => {
    const reads: number[] = [];
    const rows = Array.from({ length: 10_000 }, (_, i) => i);
    readPage(
      source(rows, () => true, reads),
      10,
    );
    expect(reads).toEqual([11]);
  });

  it.each([undefined, 0, -3])('gives everything for %s', (perPage) => {
    expect(
      readPage(
        source([1, 2, 3], (row) => row !== 2),
        perPage,
      ),
    ).toEqual(ok({ items: [1, 3], nextToken: '' }));
  });

  it('asks the filter of accepted rows only, up to the first row that a page cannot hold', () => {
    const asked: number[] = [];
    const page = readPage(
      source([1, 2, 3, 4, 5, 6, 7, 8], (row) => row !== 2),
      2,
      (row) => {
        asked.push(row);
        return ok(row % 2 === 0);
      },
    );
    expect(page).toEqual(ok({ items: [4, 6], nextToken: '8' }));
    expect(asked).toEqual([1, 3, 4, 5, 6, 7, 8]);
  });

  it('ends at the first row that the filter cannot be asked of', () => {
    const filter = (row: number) => (row === 3 ? err('three' as const) : ok(true));
    const rows = source([1, 2, 3, 4], () => true);
    expect(readPage(rows, undefined, filter)).toEqual(err('three'));
    expect(readPage(rows, 2, filter)).toEqual(err('three'));
    expect(readPage(rows, 1, filter)).toEqual(ok({ items: [1], nextToken: '2' }));
  });

  it('reads longer slices while few rows match', () => {
    const reads: number[] = [];
    const rows = Array.from({ length: 10_000 }, (_, i) => i);
    readPage(
      source(rows, () => true, reads),
      2,
      (row) => ok(row > 9_000),
    );
    expect(reads.length).toBeLessThan(30);
    expect(Math.max(...reads)).toBe(512);
  });
});

describe('page tokens', () => {
  it('read back, whatever dots an ID has', () => {
    expect(namedPositionOf(namedTokenOf('n', 'a.b/c.d'))).toEqual(['n', 'a.b/c.d']);
  });
  it.each([
    ['12.abc', [12, 'abc']],
    ['12', [12, '']],
    ['', [0, '']],
    ['x.y', [0, '']],
    ['-1.y', [0, '']],
    ['99999999999999999999.y', [0, '']],
  ])('%s', (token, position) => {
    expect(createdPositionOf(token)).toEqual(position);
  });
  it('know a UUID', () => {
    expect(isUuid('e0000001-0000-4000-8000-000000000001')).toBe(true);
    expect(isUuid('E0000001-0000-4000-8000-00000000000F')).toBe(true);
    for (const text of ['', 'e0000001', 'e0000001-0000-4000-8000-00000000000g', 'e00000010000400080000000000000001']) {
      expect(isUuid(text)).toBe(false);
    }
  });
});
