import type { Measured } from './scenarios/store-slices.js';

/** What the figure of a row to that of its floor may be. */
interface Bound {
  readonly max?: number;
  readonly min?: number;
}

/**
 * Rows that the gate measures, by scenario, with bounds of about one and a half times what they take today. They are no aims: those are the
 * limits of the rows themselves, which `docs/performance.md` compares with what was reached.
 */
export const regressions: Readonly<Record<string, Readonly<Record<string, Bound>>>> = {
  'import.cold': { 'import.cold, as a share of that process': { max: 2 } },
  'validate.job': { 'validate.job': { max: 2.2 }, 'validate.job, with all rules': { max: 8 } },
  'store.mem': { 'store.mem.write': { max: 3 }, 'store.mem.read': { max: 8 } },
  'store.sqlite': {
    'store.sqlite.write1': { min: 0.6 },
    'store.sqlite.write64': { min: 0.4 },
    'store.sqlite.read': { min: 0.5 },
    'store.sqlite.list100': { min: 0.6 },
  },
  http: {
    'http.get': { max: 3.2 },
    'http.get with a token': { max: 3.2 },
    'http.register.mem': { max: 13 },
    'http.register.sqlite': { min: 0.09 },
    'wake.10k': { max: 2.6 },
  },
  'http.dispatch': { 'http.dispatch': { max: 10 } },
  'deliver.sqlite': { 'deliver.sqlite': { min: 0.2 }, 'deliver.bare': { min: 0.13 } },
  schedule: {
    'schedule: 1000 placements on 5000 nodes': { max: 4 },
    'schedule: 10000 allocations, one has failed': { max: 12 },
    'schedule: 10000 allocations, no change': { max: 12 },
  },
  'pg.batch': { 'pg.cost, a write of 64: Node': { max: 5 }, 'pg.cost, a write of 64: server': { max: 2.5 } },
  history: { 'schedule: 100,000 ended runs': { max: 1.5 }, 'list: 100 of 10,000 jobs': { max: 2 } },
};

/**
 * Which of the named rows of a scenario are out of their bounds, with a line of text for each row. A row that was not measured is out of
 * them. Each row counts as its figure divided by that of its floor, whatever unit its own limit has.
 */
export function outOfBounds(
  scenario: string,
  measured: readonly Measured[],
  names: readonly string[],
): { readonly broken: readonly string[]; readonly texts: readonly string[] } {
  const judged = names.map((name) => judge(name, regressions[scenario]?.[name] ?? {}, measured));
  return {
    broken: judged.filter(({ holds }) => !holds).map(({ name }) => name),
    texts: judged.map(({ text }) => text),
  };
}

function judge(name: string, { max, min }: Bound, measured: readonly Measured[]) {
  const row = measured.find((each) => each.name === name);
  const ratio = row === undefined ? Number.NaN : row.ours / row.floor;
  const holds = ratio <= (max ?? Number.POSITIVE_INFINITY) && ratio >= (min ?? 0);
  const bound = max === undefined ? `≥ ${min}` : `≤ ${max}`;
  return {
    name,
    holds,
    text: `${name.padEnd(48)}${ratio.toFixed(2).padStart(8)}   ${bound.padEnd(8)}${holds ? '' : 'out of bounds'}`,
  };
}
