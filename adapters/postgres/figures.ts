import type { Measured, MetricFamily, MetricLabels, MetricName } from '../../src/metrics/instruments.js';
import type { StoreFigures } from '../../src/ports/storage.js';
import { failureOf, isServerError, type Session } from './session.js';
import type { Sql } from './sql.js';
import type { Statement, StatementResult } from './wire.js';

/** What a process has counted since it opened the store. */
export interface StoreCounts {
  /** Batches that were committed without a turn, and in one. */
  optimistic: number;
  turn: number;
  /** Batches that were decided again because another process had committed before. */
  racesLost: number;
}

/** Figures are for people: what cannot be read quickly is left out. */
const limits = {
  text: "SELECT set_config('statement_timeout', '2s', true), set_config('lock_timeout', '500ms', true)",
};

/** Reads the sizes of a store, its chain, and who keeps dead rows from being removed. Notes what could not be read. */
export async function readFigures(session: Session, sql: Sql): Promise<StoreFigures> {
  const parts = [
    await readPart(session, 'sizes', sql.tableFigures(), (rows) => ({ families: tableFigures(rows), notes: [] })),
    await readPart(session, 'the chain', sql.chainFigures(), (rows) => ({ families: chainFigures(rows), notes: [] })),
    await readPart(session, 'snapshots', sql.snapshots(), snapshotFigures),
  ];
  return { families: parts.flatMap(({ families }) => families), notes: parts.flatMap(({ notes }) => notes) };
}

async function readPart(
  session: Session,
  name: string,
  read: Statement,
  figures: (rows: Rows) => StoreFigures,
): Promise<StoreFigures> {
  try {
    const begin = { text: 'BEGIN READ ONLY' };
    const results = await session.run([begin, limits, read, { text: 'COMMIT' }]);
    return figures(rowsIn(results[2]));
  } catch (thrown) {
    if (!isServerError(thrown)) throw thrown;
    await session.run([{ text: 'ROLLBACK' }]);
    return { families: [], notes: [`The figures of ${name} cannot be read: ${failureOf(thrown).message}`] };
  }
}

export function countFigures(
  { optimistic, turn, racesLost }: StoreCounts,
  sessions: readonly Pick<Session, 'opened' | 'roundTrips'>[],
): readonly MetricFamily[] {
  const sum = (of: 'opened' | 'roundTrips'): number => sessions.reduce((all, each) => all + each[of], 0);
  return [
    family('signalbox.store.batches', [
      { labels: { mode: 'optimistic' }, value: optimistic },
      { labels: { mode: 'turn' }, value: turn },
    ]),
    one('signalbox.store.races.lost', racesLost),
    one('signalbox.store.connections', sum('opened')),
    one('signalbox.store.round.trips', sum('roundTrips')),
  ];
}

type Rows = StatementResult['rows'];
const rowsIn = (result: StatementResult | undefined): Rows => result?.rows ?? [];

function tableFigures(rows: Rows): readonly MetricFamily[] {
  const each = (labels: (name: string) => MetricLabels, value: (row: Rows[number]) => number): readonly Measured[] =>
    rows.map((row) => ({ labels: labels(String(row[0])), value: value(row) }));
  const total = (at: number): number => rows.reduce((sum, row) => sum + Number(row[at]), 0);
  return [
    family('signalbox.store.size', [
      { labels: { part: 'tables' }, value: total(3) },
      { labels: { part: 'indexes' }, value: total(4) },
    ]),
    family(
      'signalbox.store.table.size',
      each(
        (table) => ({ table }),
        (row) => Number(row[3]) + Number(row[4]),
      ),
    ),
    family('signalbox.store.table.rows', [
      ...each(
        (table) => ({ table, state: 'live' }),
        (row) => Number(row[1]),
      ),
      ...each(
        (table) => ({ table, state: 'dead' }),
        (row) => Number(row[2]),
      ),
    ]),
  ];
}

function chainFigures([row]: Rows): readonly MetricFamily[] {
  return [one('signalbox.store.chain.length', Number(row?.[0])), one('signalbox.store.chain.age', Number(row?.[1]))];
}

/** The first session has the oldest snapshot. What the role of the store may not see is counted. */
function snapshotFigures(sessions: Rows): StoreFigures {
  const hidden = sessions.filter(([, , , , isHidden]) => isHidden === 't').length;
  const oldest = sessions.find(([, , , , isHidden]) => isHidden === 'f');
  const notes: string[] = [];
  if (oldest !== undefined) {
    const [pid, application, state, age] = oldest;
    const name = application === null || application === '' ? 'without a name' : application;
    notes.push(`The oldest snapshot, ${Number(age).toFixed(1)} s, is held by session ${pid} (${name}, ${state}).`);
  }
  if (hidden > 0)
    notes.push(
      `Snapshots of ${hidden} sessions of other roles are not visible: grant pg_read_all_stats to the role of the store to see them.`,
    );
  return {
    families: [
      one('signalbox.store.snapshot.age', Number(oldest?.[3] ?? 0)),
      one('signalbox.store.snapshots.hidden', hidden),
    ],
    notes,
  };
}

function family(name: MetricName, measured: readonly Measured[]): MetricFamily {
  return { name, measured };
}

function one(name: MetricName, value: number): MetricFamily {
  return family(name, [{ labels: {}, value }]);
}
