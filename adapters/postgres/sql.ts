import type { Overlay } from '../../src/storage/overlay.js';
import { encodeEntry } from '../../src/storage/records.js';
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

/** Rows are replaced and removed often: dead ones are removed when they are a small part, of contents out of line, too. */
const vacuumed = ['', 'toast.'].map((of) => `${of}autovacuum_vacuum_scale_factor = 0.02`).join(', ');

/** In the list of rows without entries: begins the key from which on all rows have none. Encoded keys have no such character. */
const fillMark = '\u0001';

/** The statements of one store: all of its tables are in one schema. */
export class Sql {
  readonly #plainSchema: string;
  readonly #schema: string;
  /** The second number of its advisory lock. */
  readonly #lock: number;
  readonly #lockMs: number;
  /** Whether the engine has advisory locks. Otherwise the primary key of the chain lets one of several batches through. */
  readonly hasLocks: boolean;

  /** `lockMs`: how long a lock is waited for. The server does not notice that a client has gone while it waits for one. */
  constructor(
    schema: string,
    { lockMs = 10_000, hasLocks = true }: { readonly lockMs?: number; readonly hasLocks?: boolean } = {},
  ) {
    this.#lockMs = lockMs;
    this.hasLocks = hasLocks;
    this.#plainSchema = schema;
    this.#schema = `"${schema.replaceAll('"', '""')}"`;
    let hash = 0;
    for (const character of schema) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) | 0;
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
  lock(lockMs = this.#lockMs): Statement[] {
    if (!this.hasLocks) return [];
    return [
      {
        text: `SELECT set_config('lock_timeout', '${lockMs}', true), pg_advisory_xact_lock(${lockClass}, ${this.#lock})`,
        isFrequent: true,
      },
    ];
  }

  /**
   * Ends sessions that hold the lock, or have appended to the chain, while their client does nothing: it was stopped, or has vanished. What they
   * have not committed is undone.
   */
  endIdleHolders(): Statement {
    const held = this.hasLocks
      ? this.#isOfLock
      : `l.relation = to_regclass('${this.#name('chain').replaceAll("'", "''")}') AND l.mode = 'RowExclusiveLock'`;
    return {
      text: `SELECT pg_terminate_backend(a.pid) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid WHERE ${held} AND l.granted AND (a.state LIKE 'idle in transaction%' OR a.wait_event = 'ClientRead') AND a.state_change < clock_timestamp() - interval '500 ms'`,
    };
  }

  get #isOfLock(): string {
    return `l.locktype = 'advisory' AND l.classid = ${lockClass} AND l.objid = ${this.#lock} AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  }

  /** Cancels the statements that wait for the lock. */
  cancelWaiting(): Statement {
    return { text: `SELECT pg_cancel_backend(l.pid) FROM pg_locks l WHERE ${this.#isOfLock} AND NOT l.granted` };
  }

  /** From then on nobody else uses the table. */
  lockRows(table: number): Statement {
    return { text: `LOCK TABLE ${this.#rows({ id: table })} IN ACCESS EXCLUSIVE MODE` };
  }

  /** The time of the server, in milliseconds since 1970. */
  time(): Statement {
    return { text: 'SELECT extract(epoch FROM clock_timestamp()) * 1000' };
  }

  // What describes the store.

  hasSchema(): Statement {
    return { text: 'SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1::name)', values: [this.#plainSchema] };
  }

  isolation(): Statement {
    return { text: 'SHOW default_transaction_isolation' };
  }

  createSchema(): Statement {
    return { text: `CREATE SCHEMA ${this.#schema}` };
  }

  hasStore(): Statement {
    // A look-up by name may answer from before the lock was granted.
    return {
      text: 'SELECT EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::name AND c.relname = $2)',
      values: [this.#plainSchema, 'sb_store'],
    };
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
      { text: `ALTER TABLE ${this.#name('chain')} SET (${vacuumed})` },
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
        text: `CREATE TABLE ${this.#rows({ id })} (key text COLLATE "C" PRIMARY KEY, created bigint NOT NULL, modified bigint NOT NULL, doc text NOT NULL) WITH (fillfactor = 70, ${vacuumed})`,
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
      isLong: true,
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

  /** The batch at the tip, which proves that history is the same, and all after it; without the content of one that is known. */
  pull(tip: Replica['tip'], known: Pick<Batch, 'id'> = tip): Statement {
    return {
      text: `SELECT seq, id, last, CASE WHEN seq > $1 AND id <> $2 THEN changes END FROM ${this.#name('chain')} WHERE seq >= $1 ORDER BY seq`,
      values: [String(tip.seq), known.id],
      isFrequent: true,
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
      isFrequent: true,
    };
  }

  /** Fails (22012) unless this is the last batch: undoes what stands before it in the transaction. */
  assertTip(tip: Pick<Replica['tip'], 'seq' | 'id'>): Statement {
    return {
      text: `SELECT 1 / (SELECT (c.seq = $1 AND c.id = $2)::int FROM ${this.#name('chain')} c ORDER BY c.seq DESC LIMIT 1)`,
      values: [String(tip.seq), tip.id],
    };
  }

  /** Removes old batches after one, at most some, and returns the last one that was removed. */
  shorten(
    {
      minutes,
      atLeast,
      atMost,
      most,
    }: { readonly minutes: number; readonly atLeast: number; readonly atMost: number; readonly most: number },
    after: number,
  ): Statement {
    const chain = this.#name('chain');
    const tip = `(SELECT max(seq) FROM ${chain})`;
    const isOld = `at < clock_timestamp() - interval '${minutes} minutes' OR seq < ${tip} - ${atMost}`;
    const old = `SELECT seq FROM ${chain} WHERE seq > $1 AND seq < ${tip} - ${atLeast} AND (${isOld}) ORDER BY seq LIMIT ${most} FOR UPDATE SKIP LOCKED`;
    return {
      text: `WITH removed AS (DELETE FROM ${chain} WHERE seq IN (${old}) RETURNING seq) SELECT max(seq) FROM removed`,
      values: [String(after)],
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
    const columns = changed.orders.flatMap((order) => table.indexes.get(order) ?? []);
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
        isFrequent: true,
      });
    const replaced = put.filter(({ key }) => isReplacing.has(key));
    if (replaced.length > 0) {
      const kept = names.slice(1).map((name) => `${name} = excluded.${name}`);
      const unknown = foreign.map((id) => `i${id} = NULL`);
      // Finds each row by its key, whatever size the server takes the table for; the plan of an UPDATE may read all of it.
      statements.push({
        text: `INSERT INTO ${this.#rows(table)} (${names.join(', ')}) SELECT * FROM ${unnested} WHERE ${isAppended(names.length + 1)} ON CONFLICT (key) DO UPDATE SET ${[...kept, ...unknown].join(', ')}`,
        values: [...columnsOf(replaced, columns.length), ...appended],
        isFrequent: true,
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
  ranges(table: CatalogTable, gaps: readonly [Gap, ...Gap[]]): Statement {
    const [{ order: name, reverse }] = gaps;
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

  // Figures for operators.

  /** Name, live and dead rows as the server estimates them, bytes of rows and of indexes; also of the chain. */
  tableFigures(): Statement {
    const relations = `SELECT name, '${this.#schema.replaceAll("'", "''")}.sb_rows_' || id AS relation FROM ${this.#name('tables')}`;
    const chain = `SELECT 'sb_chain', '${this.#name('chain').replaceAll("'", "''")}'`;
    return {
      text: `SELECT t.name, coalesce(pg_stat_get_live_tuples(c.oid), 0), coalesce(pg_stat_get_dead_tuples(c.oid), 0), pg_table_size(c.oid), pg_indexes_size(c.oid) FROM (${relations} UNION ALL ${chain}) t JOIN pg_class c ON c.oid = to_regclass(t.relation) ORDER BY 1`,
    };
  }

  /** Its length in batches, and its age in seconds. */
  chainFigures(): Statement {
    return {
      text: `SELECT max(seq) - min(seq) + 1, extract(epoch FROM clock_timestamp() - (SELECT at FROM ${this.#name('chain')} ORDER BY seq LIMIT 1)) FROM ${this.#name('chain')}`,
    };
  }

  /**
   * Sessions of the database with a snapshot, the oldest first, and those that the role may not see: process, application, state, age in
   * seconds, whether it is hidden. Never their queries.
   */
  snapshots(): Statement {
    return {
      text: `SELECT pid, application_name, state, extract(epoch FROM clock_timestamp() - coalesce(xact_start, query_start)), state IS NULL AND query = '<insufficient privilege>' FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR (state IS NULL AND query = '<insufficient privilege>')) ORDER BY age(backend_xmin) DESC NULLS LAST, xact_start LIMIT 1000`,
    };
  }

  // Copies of whole stores.

  /** The chain of a new store begins after another one's last write. */
  beginAt(last: number, indexes: string): Statement {
    return {
      text: `UPDATE ${this.#name('chain')} SET last = $1, indexes = $2 WHERE seq = 0`,
      values: [String(last), indexes],
    };
  }

  addRows(table: number, columns: readonly number[], values: readonly Buffer[]): Statement {
    const names = ['key', 'created', 'modified', 'doc', ...columns.map((id) => `i${id}`)];
    const types = names.map((_name, at) => `$${at + 1}::${at === 1 || at === 2 ? 'int8' : 'text'}[]`);
    return {
      text: `INSERT INTO ${this.#rows({ id: table })} (${names.join(', ')}) SELECT * FROM unnest(${types.join(', ')})`,
      values,
    };
  }

  fallBehind(index: number, keys: readonly string[]): Statement {
    return {
      text: `INSERT INTO ${this.#name('behind')} SELECT $1, key FROM unnest($2::text[]) AS n(key)`,
      values: [String(index), texts(keys)],
    };
  }

  analyze(table: number): Statement {
    return { text: `ANALYZE ${this.#rows({ id: table })}`, isLong: true };
  }

  /** With the positions in its indexes, and whether those of some are to be completed. */
  allRows(table: number, columns: readonly number[], behind: readonly number[]): string {
    const isBehind = (id: number): string =>
      `EXISTS (SELECT 1 FROM ${this.#name('behind')} b WHERE b.index_id = ${id} AND (b.key = r.key OR (left(b.key, 1) = chr(1) AND r.key >= substr(b.key, 2))))`;
    const selected = ['key', 'created', 'modified', 'doc', ...columns.map((id) => `i${id}`)].map((name) => `r.${name}`);
    return `SELECT ${[...selected, ...behind.map(isBehind)].join(', ')} FROM ${this.#rows({ id: table })} r ORDER BY r.key`;
  }

  allPositions(table: number, column: number): string {
    return `SELECT i${column} FROM ${this.#rows({ id: table })} WHERE i${column} IS NOT NULL ORDER BY i${column}`;
  }

  // Entries that another program has left out.

  /** Keys of rows whose entry in an index was left out. */
  behind(index: number, limit: number): Statement {
    return {
      text: `SELECT key FROM ${this.#name('behind')} WHERE index_id = $1 AND left(key, 1) <> $2 LIMIT ${limit}`,
      values: [String(index), fillMark],
    };
  }

  /** All indexes that have such entries. */
  allBehind(): Statement {
    return { text: `SELECT DISTINCT index_id FROM ${this.#name('behind')}` };
  }

  /** Rows that were read have their entries, and there are no others with these keys: unless they have changed since. */
  caughtUp(
    { table, column }: { readonly table: number; readonly column: number },
    keys: readonly string[],
    read: readonly { readonly key: string; readonly modified: number }[],
  ): Statement {
    return {
      text: `DELETE FROM ${this.#name('behind')} b WHERE b.index_id = $1 AND b.key = ANY($2::text[]) AND NOT EXISTS (SELECT 1 FROM ${this.#rows({ id: table })} r LEFT JOIN unnest($3::text[], $4::int8[]) AS n(key, modified) ON n.key = r.key WHERE r.key = b.key AND r.modified IS DISTINCT FROM n.modified)`,
      values: [
        String(column),
        texts(keys),
        texts(read.map(({ key }) => key)),
        numbers(read.map(({ modified }) => modified)),
      ],
    };
  }

  // Entries of a new index of a table that has rows.

  /** All rows of the table lack their entry. */
  beginFill(table: number, index: number): Statement {
    return {
      text: `INSERT INTO ${this.#name('behind')} SELECT $1, $2 WHERE EXISTS (SELECT 1 FROM ${this.#rows({ id: table })})`,
      values: [String(index), fillMark],
    };
  }

  /** From this key on, rows lack their entry. */
  filledTo(index: number): Statement {
    return {
      text: `SELECT substr(key, 2) FROM ${this.#name('behind')} WHERE index_id = $1 AND left(key, 1) = $2`,
      values: [String(index), fillMark],
    };
  }

  /** Rows up to this key have their entry now; all, if it is undefined. Nothing if another process has gone on from there. */
  fillOn(index: number, from: string, to: string | undefined): Statement {
    const where = 'WHERE index_id = $1 AND key = $2';
    const values = [String(index), `${fillMark}${from}`];
    if (to === undefined) return { text: `DELETE FROM ${this.#name('behind')} ${where}`, values };
    // The next string after a key.
    return {
      text: `UPDATE ${this.#name('behind')} SET key = $3 ${where}`,
      values: [...values, `${fillMark}${to}${fillMark}`],
    };
  }

  rowsFrom(table: number, key: string, limit: number): Statement {
    return {
      text: `SELECT key, modified, doc FROM ${this.#rows({ id: table })} WHERE key >= $1 ORDER BY key LIMIT ${limit}`,
      values: [key],
    };
  }

  rowsWith(table: number, keys: readonly string[]): Statement {
    return {
      text: `SELECT key, modified, doc FROM ${this.#rows({ id: table })} WHERE key = ANY($1::text[])`,
      values: [texts(keys)],
    };
  }

  /** Of rows that have not changed since they were read. */
  putEntries(
    table: number,
    column: number,
    rows: readonly { readonly key: string; readonly modified: number; readonly entry: string | undefined }[],
  ): Statement {
    return {
      text: `UPDATE ${this.#rows({ id: table })} r SET i${column} = n.entry FROM unnest($1::text[], $2::int8[], $3::text[]) AS n(key, modified, entry) WHERE r.key = n.key AND r.modified = n.modified`,
      values: [
        texts(rows.map(({ key }) => key)),
        numbers(rows.map(({ modified }) => modified)),
        texts(rows.map(({ key, entry }) => positionIn(key, entry))),
      ],
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
