import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Costs, type Fleet, simulate } from './chain-model.js';

/*
 * The figures of `docs/scale.md`: what was measured with one to four processes, and what the model says of a hundred. The costs are those
 * that the document names; `npm run bench -- --only pg.cost` measures them on your machine.
 */

const costs: Costs = {
  roundTrip: 0.1,
  sync: 0.5,
  server: { commit: 0.8, write: 0.046, pull: 0.064, notify: 0.03 },
  node: { commit: 1.6, write: 0.095, answer: 0.045, pull: 0.056, foreign: 0.032 },
};

const document = readFileSync(fileURLToPath(new URL('../../docs/scale.md', import.meta.url)), 'utf8');

/** Cells of the rows of the table that begins with these columns. */
function tableOf(...columns: readonly string[]): readonly (readonly number[])[] {
  const begin = document.indexOf(`| ${columns.join(' | ')} |`);
  expect(begin, `no table ${columns.join(', ')}`).toBeGreaterThan(0);
  const [, , ...rows] = document.slice(begin).split('\n\n')[0]?.split('\n') ?? [];
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => Number(cell.replaceAll(',', ''))),
  );
}

/** As the document rounds. */
const rounded = (value: number): number => Number(value.toPrecision(2));

describe('the model of the chain', () => {
  const many: Omit<Fleet, 'processes'> = { callers: 64, isWatched: true, cores: 8, isShared: true };

  // Beside other work, so that processes do not compete with each other for the two cores.
  test.each([
    [2, costs.sync, 1.13],
    [3, costs.sync, 0.98],
    [4, costs.sync, 1.03],
    [3, costs.sync + 3, 0.96],
  ])('%i processes, syncs of %f ms: writes a second to those of one as measured, %f', (processes, sync, measured) => {
    const [one, several] = [1, processes].map((count) => simulate({ ...costs, sync }, { ...many, processes: count }));
    const ratio = (several?.writesPerSecond ?? 0) / (one?.writesPerSecond ?? 1);
    expect(Math.abs(ratio - measured)).toBeLessThan(0.1);
  });

  test('one process reaches what the formula of docs/scale.md gives', () => {
    const rows = tableOf('Callers at once', 'Writes/s', 'with S of 3 ms');
    expect(rows).toHaveLength(4);
    for (const [callers = 0, ...figures] of rows)
      for (const [at, sync] of [costs.sync, 3].entries()) {
        const commit = costs.roundTrip + sync + costs.server.commit + costs.node.commit;
        const write = costs.server.write + costs.node.write + costs.node.answer;
        const expected = (1000 * callers) / (commit + callers * write);
        expect(figures[at]).toBe(rounded(expected));
        const fleet = { ...many, processes: 1, isShared: false, callers };
        expect(simulate({ ...costs, sync }, fleet).writesPerSecond / expected).toBeCloseTo(1, 1);
      }
  });
});

describe('the figures of docs/scale.md', () => {
  const apart: Omit<Fleet, 'processes' | 'callers'> = { isWatched: true, cores: 8, isShared: false };

  test('callers that write as fast as they are answered', () => {
    const rows = tableOf('Processes', 'Sync ms', 'Writes/s', 'p50 ms', 'p99 ms', 'Server %');
    expect(rows).toHaveLength(8);
    for (const [processes = 0, sync = 0, ...figures] of rows) {
      const result = simulate({ ...costs, roundTrip: 0.5, sync }, { ...apart, processes, callers: 8 }, 0.5);
      const { writesPerSecond, p50, p99, serverLoad } = result;
      expect(figures, `${processes} processes, ${sync} ms`).toEqual(
        [writesPerSecond, p50, p99, 100 * serverLoad].map(rounded),
      );
    }
  });

  test('two hundred writes a second in all', () => {
    const rows = tableOf('Processes', 'Writes/s of each', 'p50 ms', 'p99 ms', 'Server %');
    expect(rows).toHaveLength(4);
    for (const [processes = 0, each = 0, ...figures] of rows) {
      const fleet: Fleet = { ...apart, processes, callers: each, pause: 1000 };
      const { p50, p99, serverLoad } = simulate({ ...costs, roundTrip: 0.5 }, fleet, 2);
      expect(figures, `${processes} processes`).toEqual([p50, p99, 100 * serverLoad].map(rounded));
    }
  });
});
