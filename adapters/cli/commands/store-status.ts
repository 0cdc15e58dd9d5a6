import { orThrow } from '../../../src/client/index.js';
import type { StoreStatus } from '../../../src/operations/store/store-figures.js';
import { command, type Invocation } from '../command-line/command.js';
import { facts, inOneLine, tableOf } from '../output/tables.js';
import { print } from './print.js';

type Figures = ReadonlyMap<
  string,
  readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]
>;

const prefix = 'signalbox.store.';
/** `status` lists this many tables, those with most dead rows. */
const mostTables = 10;

/** `signalbox operator store`. */
export const storeCommand = command({
  usage: 'operator store',
  summary: 'show the state of the store: sizes, its chain, what keeps dead rows from being removed, lost races',
  run: async (invocation) => {
    const answer = await orThrow(invocation.box.system.store());
    return print(invocation, answer, () => storeText(answer, Number.POSITIVE_INFINITY));
  },
});

/** The same below the jobs, in short, if the store has figures and the caller may read them; else empty. */
export async function storeStatus({ box }: Pick<Invocation, 'box'>): Promise<string> {
  const answer = await box.system.store();
  if (answer.isErr() || answer.value.Figures.length + answer.value.Notes.length === 0) return '';
  return `\nStore\n${storeText(answer.value, mostTables)}`;
}

function storeText({ Index, Figures: all, Notes }: StoreStatus, most: number): string {
  const figures = new Map<string, { labels: Readonly<Record<string, string>>; value: number }[]>();
  for (const { Name, Labels, Value } of all) {
    const key = Name.slice(prefix.length);
    figures.set(key, [...(figures.get(key) ?? []), { labels: Labels, value: Value }]);
  }
  const notes = Notes.map((note) => `${inOneLine(note)}\n`).join('');
  return `${facts({ Index, ...storeFacts(figures) })}${notes}${tablesOf(figures, most)}`;
}

function storeFacts(figures: Figures): Parameters<typeof facts>[0] {
  const of = (name: string, label?: string): number | undefined => {
    const found = figures.get(name)?.find(({ labels }) => label === undefined || Object.values(labels).includes(label));
    return found?.value;
  };
  const seconds = (name: string): string | undefined => {
    const value = of(name);
    return value === undefined ? undefined : `${value.toFixed(1)} s`;
  };
  const size = (part: string): string | undefined => shownBytes(of('size', part));
  const length = of('chain.length');
  // Without a chain there is no other process that could be met.
  const hasChain = length !== undefined;
  const [optimistic = 0, turns = 0] = [of('batches', 'optimistic'), of('batches', 'turn')];
  const share = optimistic + turns === 0 ? 0 : (100 * turns) / (optimistic + turns);
  return {
    'Size of the file': size('file'),
    'Size of its log': size('log'),
    'Size of tables': size('tables'),
    'Size of indexes': size('indexes'),
    'Oldest snapshot': seconds('snapshot.age'),
    'Hidden snapshots': of('snapshots.hidden') || undefined,
    Chain: hasChain ? `${length} batches, the oldest of ${seconds('chain.age')} ago` : undefined,
    'Batches of the server': hasChain ? optimistic + turns : undefined,
    'Share of turns': hasChain ? `${share.toFixed(1)} %` : undefined,
    'Lost races': hasChain ? of('races.lost') : undefined,
    'Opened connections': hasChain ? of('connections') : undefined,
    'Round trips': hasChain ? of('round.trips') : undefined,
  };
}

function tablesOf(figures: Figures, most: number): string {
  const sizes = new Map(figures.get('table.size')?.map(({ labels, value }) => [labels['table'] ?? '', value]));
  const rows = (state: string): ReadonlyMap<string, number> => {
    const ofState = figures.get('table.rows')?.filter(({ labels }) => labels['state'] === state) ?? [];
    return new Map(ofState.map(({ labels, value }) => [labels['table'] ?? '', value]));
  };
  const [live, dead] = [rows('live'), rows('dead')];
  const names = [...sizes.keys()].toSorted(
    (one, two) => (dead.get(two) ?? 0) - (dead.get(one) ?? 0) || (sizes.get(two) ?? 0) - (sizes.get(one) ?? 0),
  );
  if (names.length === 0) return '';
  const lines = names
    .slice(0, most)
    .map((name) => [name, `${live.get(name) ?? 0}`, `${dead.get(name) ?? 0}`, shownBytes(sizes.get(name)) ?? '']);
  const more = names.length > most ? `${names.length - most} more tables: signalbox operator store\n` : '';
  return `\n${tableOf(['Table', 'Live rows', 'Dead rows', 'Size'], lines, '')}${more}`;
}

function shownBytes(bytes: number | undefined): string | undefined {
  if (bytes === undefined) return undefined;
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
