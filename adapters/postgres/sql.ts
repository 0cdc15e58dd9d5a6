import { encodeEntry } from '../../src/storage/keys.js';
import type { Overlay } from '../../src/storage/overlay.js';
import { type Batch, byPrimaryKey, type ChangedTable, printTables } from './batch.js';
import type { CatalogTable } from './catalog.js';
import type { Gap, Replica } from './replica.js';
import { numbers, type Statement, texts } from './wire.js';

/** The version of the layout of the tables. */
export const layout = 1;

/** Every so many batches the last indexes of all tables are written with one, for those who begin. */
export const indexesEvery = 64;

/** The first number of the advisory locks of stores: they are of one database, and others use some too. */
const lockClass = 0x5162;

/** The inverse of `unitOrdered`. */
function codePointOrdered(position: string): string {
  return position.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code < 0xf800 ? code + 0x800 : code - 0x2000);
  });
}

/** The statements of one store: all of its tables are in one schema. */
export class Sql {
  readonly #schema: string;
  /** The second number of its advisory lock. */
  readonly #lock: number;
  readonly #lockMs: number;
  /** Whether the engine has advisory locks. Otherwise the primary key of the chain lets one of several batches through. */
  readonly hasLocks: boolean;

  /** `lockMs`: how long a lock is waited for. The server does not notice that a client has gone while it waits for one. */
  constructor(schema: string, { lockMs, hasLocks }: { readonly lockMs: number; readonly hasLocks: boolean }) {
    this.#lockMs = lockMs;
    this.hasLocks = hasLocks;
    this.#schema = `"${schema.replaceAll('"', '""')}"`;
    let hash = 0;
    for (const character of schema) hash = (Math.imul(hash, 31) + (character.codePointAt(0) as number)) | 0;
    this.#lock = hash & 0x7fffffff;
  }

  /** Where commits are notified of. */
  get channel(): string {
    return `signalbox_${this.#lock}`;
  }

  #name(table: string): string {
    return `${this.#schema}.sb_${table}`;
  }

  #rows(table: Pick<CatalogTable, 'id'>): string {
    return this.#name(`rows_${table.id}`);
  }

  /** Held until the end of the transaction. Whoever has it may append a batch. Fails (55P03) after `lockMs`. None without advisory locks. */
  lock(): Statement[] {
    if (!this.hasLocks) return [];
    return [
      {
        text: `SELECT set_config('lock_timeout', '${this.#lockMs}', true), pg_advisory_xact_lock(${lockClass}, ${this.#lock})`,
      },
    ];
  }

  /**
   * Ends sessions that hold the lock, or have appended to the chain, while their client does nothing: it was stopped, or has vanished. What they
   * have not committed is undone.
   */
  endIdleHolders(): Statement {
    const held = this.hasLocks
      ? `l.locktype = 'advisory' AND l.classid = ${lockClass} AND l.objid = ${this.#lock} AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`
      : `l.relation = to_regclass('${this.#name('chain').replaceAll("'", "''")}') AND l.mode = 'RowExclusiveLock'`;
    return {
      text: `SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE ${held} AND l.granted AND (a.state LIKE 'idle in transaction%' OR a.wait_event = 'ClientRead') AND a.state_change < clock_timestamp() - interval '500 ms'`,
    };
  }

  // What describes the store.

  hasSchema(): Statement {
    return { text: 'SELECT to_regnamespace($1) IS NOT NULL', values: [this.#schema] };
  }

  isolation(): Statement {
    return { text: 'SHOW default_transaction_isolation' };
  }

  createSchema(): Statement {
    return { text: `CREATE SCHEMA ${this.#schema}` };
  }

  hasStore(): Statement {
    return { text: 'SELECT to_regclass($1) IS NOT NULL', values: [this.#name('store')] };
  }

  createStore(id: string): Statement[] {
    return [
      { text: `CREATE TABLE ${this.#name('store')} (id int PRIMARY KEY CHECK (id = 1), format int NOT NULL)` },
      { text: `CREATE TABLE ${this.#name('tables')} (id int PRIMARY KEY, name text UNIQUE NOT NULL)` },
      {
        text: `CREATE TABLE ${this.#name('indexes')} (id int PRIMARY KEY, table_id int NOT NULL, name text NOT NULL, UNIQUE (table_id, name))`,
      },
      {
        text: `CREATE TABLE ${this.#name('chain')} (seq bigint PRIMARY KEY, last bigint NOT NULL, id uuid NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), indexes text, changes text NOT NULL)`,
      },
      { text: `ALTER TABLE ${this.#name('chain')} ALTER changes SET STORAGE EXTERNAL` },
      {
        text: `CREATE TABLE ${this.#name('behind')} (index_id int, key text COLLATE "C", PRIMARY KEY (index_id, key))`,
      },
      { text: `INSERT INTO ${this.#name('store')} VALUES (1, ${layout})` },
      {
        text: `INSERT INTO ${this.#name('chain')} (seq, last, id, indexes, changes) VALUES (0, 1, $1, '{}', '[]')`,
        values: [id],
      },
    ];
  }

  format(): Statement {
    return { text: `SELECT format FROM ${this.#name('store')}` };
  }

  tables(): Statement {
    return { text: `SELECT id, name FROM ${this.#name('tables')}` };
  }

  indexes(): Statement {
    return { text: `SELECT id, table_id, name FROM ${this.#name('indexes')} ORDER BY id` };
  }

  createTable(id: number, name: string): Statement[] {
    return [
      { text: `INSERT INTO ${this.#name('tables')} VALUES ($1, $2)`, values: [String(id), name] },
      {
        text: `CREATE TABLE ${this.#rows({ id })} (key text COLLATE "C" PRIMARY KEY, created bigint NOT NULL, modified bigint NOT NULL, doc text NOT NULL) WITH (fillfactor = 70)`,
      },
    ];
  }

  addColumn(table: number, id: number, name: string): Statement[] {
    return [
      {
        text: `INSERT INTO ${this.#name('indexes')} VALUES ($1, $2, $3)`,
        values: [String(id), String(table), name],
      },
      { text: `ALTER TABLE ${this.#rows({ id: table })} ADD COLUMN i${id} text COLLATE "C"` },
    ];
  }

  createIndex(table: number, id: number): Statement {
    return {
      text: `CREATE INDEX sb_entries_${id} ON ${this.#rows({ id: table })} (i${id}) WHERE i${id} IS NOT NULL`,
    };
  }

  /** Rows in the order of their keys, after one. */
  rowsAfter(table: number, key: string, limit: number): Statement {
    return {
      text: `SELECT key, created, modified, doc FROM ${this.#rows({ id: table })} WHERE key > $1 ORDER BY key LIMIT ${limit}`,
      values: [key],
    };
  }

  putEntries(table: number, column: number, entries: readonly (readonly [string, string | undefined])[]): Statement {
    return {
      text: `UPDATE ${this.#rows({ id: table })} r SET i${column} = n.entry FROM unnest($1::text[], $2::text[]) AS n(key, entry) WHERE r.key = n.key`,
      values: [texts(entries.map(([key]) => key)), texts(entries.map(([key, entry]) => positionIn(key, entry)))],
    };
  }

  // The chain.

  /** The tip, and what is needed to know the last indexes of all tables. */
  start(): Statement {
    const chain = this.#name('chain');
    return {
      text: `SELECT seq, id, last, indexes, changes FROM ${chain} WHERE seq >= (SELECT seq FROM ${chain} WHERE indexes IS NOT NULL ORDER BY seq DESC LIMIT 1) ORDER BY seq`,
    };
  }

  tip(): Statement {
    return { text: `SELECT max(seq) FROM ${this.#name('chain')}` };
  }

  /** The batch at the tip, which proves that history is the same, and all after it. */
  pull(tip: Replica['tip']): Statement {
    return {
      text: `SELECT seq, id, last, CASE WHEN seq > $1 THEN changes END FROM ${this.#name('chain')} WHERE seq >= $1 ORDER BY seq`,
      values: [String(tip.seq)],
    };
  }

  /** Whether a batch is there, and the oldest one that is. */
  traceOf({ seq, id }: Pick<Batch, 'seq' | 'id'>): Statement {
    const chain = this.#name('chain');
    return {
      text: `SELECT EXISTS (SELECT 1 FROM ${chain} WHERE seq = $1 AND id = $2), (SELECT min(seq) FROM ${chain})`,
      values: [String(seq), id],
    };
  }

  /** Appends a batch that changes no rows: the catalog may have changed with it. */
  appendEmpty(id: string): Statement {
    const chain = this.#name('chain');
    return {
      text: `INSERT INTO ${chain} (seq, last, id, changes) SELECT seq + 1, last, $1, '[]' FROM ${chain} ORDER BY seq DESC LIMIT 1`,
      values: [id],
    };
  }

  /** Appends a batch if the tip is still the one before it. */
  append(batch: Batch, tip: Replica['tip'], indexes: string | null): Statement {
    const chain = this.#name('chain');
    return {
      text: `INSERT INTO ${chain} (seq, last, id, indexes, changes) SELECT $1, $2, $3, $4, $5 WHERE (SELECT c.seq = $6 AND c.id = $7 FROM ${chain} c ORDER BY c.seq DESC LIMIT 1)`,
      values: [
        ...[String(batch.seq), String(batch.last), batch.id, indexes, printTables(batch.tables)],
        ...[String(tip.seq), tip.id],
      ],
    };
  }

  /** Fails (22012) unless this is the last batch: undoes what stands before it in the transaction. */
  assertTip(tip: Pick<Replica['tip'], 'seq' | 'id'>): Statement {
    return {
      text: `SELECT 1 / (SELECT (c.seq = $1 AND c.id = $2)::int FROM ${this.#name('chain')} c ORDER BY c.seq DESC LIMIT 1)`,
      values: [String(tip.seq), tip.id],
    };
  }

  /** Removes old batches, at most some, but keeps the newest ones. */
  shorten(keep: number, minutes: number, most: number): Statement {
    const chain = this.#name('chain');
    return {
      text: `DELETE FROM ${chain} WHERE seq IN (SELECT seq FROM ${chain} WHERE seq < (SELECT max(seq) - ${keep} FROM ${chain}) AND at < clock_timestamp() - interval '${minutes} minutes' ORDER BY seq LIMIT ${most} FOR UPDATE SKIP LOCKED)`,
    };
  }

  // Rows.

  /** What a batch changes, if it was appended. */
  changes(batch: Batch, changes: Overlay, tableOf: (name: string) => CatalogTable): Statement[] {
    return batch.tables.flatMap((changed) => this.#changesOf(batch, changed, changes, tableOf(changed.name)));
  }

  #changesOf(batch: Batch, changed: ChangedTable, changes: Overlay, table: CatalogTable): Statement[] {
    const isAppended = (at: number): string =>
      `EXISTS (SELECT 1 FROM ${this.#name('chain')} WHERE seq = $${at} AND id = $${at + 1})`;
    const appended = [String(batch.seq), batch.id];
    const isReplacing = new Set<string>();
    for (const { rowKey, before } of changes.changesOf(table.name)) if (before !== undefined) isReplacing.add(rowKey);
    // In one order, so that no two statements wait for each other.
    const rows = changed.rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const put = rows.filter(({ after }) => after !== undefined);
    const columns = changed.orders.map((order) => table.indexes.get(order) as number);
    const foreign = [...table.indexes.values()].filter((id) => !columns.includes(id));
    const names = ['key', 'created', 'modified', 'doc', ...columns.map((id) => `i${id}`)];
    const types = ['text', 'int8', 'int8', ...names.slice(3).map(() => 'text')];
    const unnested = `unnest(${types.map((type, at) => `$${at + 1}::${type}[]`).join(', ')})`;
    const statements: Statement[] = [];
    const added = put.filter(({ key }) => !isReplacing.has(key));
    if (added.length > 0)
      statements.push({
        text: `INSERT INTO ${this.#rows(table)} (${names.join(', ')}) SELECT * FROM ${unnested} WHERE ${isAppended(names.length + 1)}`,
        values: [...columnsOf(added, columns.length), ...appended],
      });
    const replaced = put.filter(({ key }) => isReplacing.has(key));
    if (replaced.length > 0) {
      const kept = names.slice(1).map((name) => `${name} = n.${name}`);
      const unknown = foreign.map((id) => `i${id} = NULL`);
      statements.push({
        text: `UPDATE ${this.#rows(table)} r SET ${[...kept, ...unknown].join(', ')} FROM ${unnested} AS n(${names.join(', ')}) WHERE r.key = n.key AND ${isAppended(names.length + 1)}`,
        values: [...columnsOf(replaced, columns.length), ...appended],
      });
    }
    const removed = rows.filter(({ after }) => after === undefined).map(({ key }) => key);
    if (removed.length > 0)
      statements.push({
        text: `DELETE FROM ${this.#rows(table)} WHERE key = ANY($1::text[]) AND ${isAppended(2)}`,
        values: [texts(removed), ...appended],
      });
    // Other programs complete what only they can compute.
    for (const id of foreign)
      if (put.length > 0)
        statements.push({
          text: `INSERT INTO ${this.#name('behind')} SELECT $1, key FROM unnest($2::text[]) AS n(key) WHERE ${isAppended(3)} ON CONFLICT DO NOTHING`,
          values: [String(id), texts(put.map(({ key }) => key)), ...appended],
        });
    return statements;
  }

  rowsOf(table: CatalogTable, keys: readonly string[]): Statement {
    return {
      text: `SELECT key, created, modified, doc FROM ${this.#rows(table)} WHERE key = ANY($1::text[])`,
      values: [texts(keys)],
    };
  }

  /** Parts of one order: the number of the part, a row and its position. All of one direction. */
  ranges(table: CatalogTable, gaps: readonly Gap[]): Statement {
    const [{ order: name, reverse }] = gaps as [Gap];
    const column = name === byPrimaryKey ? 'key' : `i${table.indexes.get(name)}`;
    const order = reverse ? 'DESC' : 'ASC';
    return {
      text: `SELECT q.n, r.key, r.created, r.modified, r.doc, r.${column} FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[]) AS q(n, low, high, most) CROSS JOIN LATERAL (SELECT * FROM ${this.#rows(table)} t WHERE t.${column} >= q.low AND t.${column} < q.high ORDER BY t.${column} ${order} LIMIT nullif(q.most, -1)) r`,
      values: [
        numbers(gaps.map((_gap, at) => at)),
        texts(gaps.map(({ lower }) => codePointOrdered(lower))),
        texts(gaps.map(({ upper }) => codePointOrdered(upper))),
        numbers(gaps.map(({ limit }) => (limit === Number.POSITIVE_INFINITY ? -1 : limit))),
      ],
    };
  }

  // Entries that another program has left out.

  behind(index: number, limit: number): Statement {
    return {
      text: `SELECT key FROM ${this.#name('behind')} WHERE index_id = $1 LIMIT ${limit}`,
      values: [String(index)],
    };
  }

  /** All indexes that have such entries. */
  allBehind(): Statement {
    return { text: `SELECT DISTINCT index_id FROM ${this.#name('behind')}` };
  }

  caughtUp(index: number, keys: readonly string[]): Statement {
    return {
      text: `DELETE FROM ${this.#name('behind')} WHERE index_id = $1 AND key = ANY($2::text[])`,
      values: [String(index), texts(keys)],
    };
  }
}

function positionIn(key: string, entry: string | null | undefined): string | undefined {
  return entry === undefined || entry === null ? undefined : encodeEntry(entry, key);
}

/** The columns of rows, as arrays. */
function columnsOf(rows: readonly ChangedTable['rows'][number][], entries: number): Buffer[] {
  const stored = rows.map(({ after }) => after?.row);
  return [
    texts(rows.map(({ key }) => key)),
    numbers(stored.map((row) => row?.createIndex ?? 0)),
    numbers(stored.map((row) => row?.modifyIndex ?? 0)),
    texts(stored.map((row) => row?.text)),
    ...Array.from({ length: entries }, (_, at) =>
      texts(rows.map(({ key, after }) => positionIn(key, after?.entries[at]))),
    ),
  ];
}
