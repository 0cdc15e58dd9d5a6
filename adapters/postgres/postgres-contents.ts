import { randomUUID } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { messageOf } from '../../src/shared/values.js';
import { encodeEntry, storageFailure } from '../../src/storage/records.js';
import {
  BatchSize,
  type ContentsReader,
  type ContentsWriter,
  type KeptRow,
  type KeptTable,
} from '../storage-kit/index.js';
import { orderName } from './batch.js';
import { indexesAt } from './chain.js';
import {
  ConnectionLost,
  connectionsTo,
  failureOf as failureOfServer,
  isPassing,
  isServerError,
  Session,
} from './session.js';
import { layout, Sql } from './sql.js';
import { numbers, type Statement, type StatementResult, texts } from './wire.js';

/** A batch may be waited for so long, in milliseconds: servers sync what they write at times. */
const answerMs = 300_000;

/** Limits of the server or the role that are meant for short transactions. */
const withoutLimits: Statement = {
  text: "SELECT set_config(name, '0', true) FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')",
};

function failureOf(thrown: unknown): StorageError | undefined {
  if (thrown instanceof Refused) return thrown.error;
  return isServerError(thrown) || isPassing(thrown) ? failureOfServer(thrown) : undefined;
}

class Refused extends Error {
  constructor(readonly error: StorageError) {
    super(error.message);
  }
}

/** Where a store is, or will be. */
interface Place {
  readonly url: string;
  readonly schema: string;
}

/** Reads a store in a schema, which servers may use meanwhile: as of now. */
export async function readPostgres({ url, schema }: Place): Promise<Result<ContentsReader, StorageError>> {
  return opened(url, async (session) => {
    const sql = new Sql(schema);
    const begin = { text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' };
    const [, , there] = await session.run([begin, withoutLimits, sql.hasStore()]);
    if (there?.rows[0]?.[0] !== 't')
      throw new Refused(storageFailure('io', `The schema ${schema} contains no Signalbox store.`));
    return readContents(session, sql);
  });
}

async function opened<T>(url: string, work: (session: Session) => Promise<T>): Promise<Result<T, StorageError>> {
  let session: Session | undefined;
  try {
    session = new Session(await connectionsTo(url), answerMs);
    return ok(await work(session));
  } catch (thrown) {
    session?.abandon();
    return err(failureOf(thrown) ?? storageFailure('io', messageOf(thrown)));
  }
}

interface Ids {
  readonly id: number;
  readonly indexes: readonly number[];
}

async function readContents(session: Session, sql: Sql): Promise<PostgresContents> {
  const [formats] = await session.run([sql.format()]);
  const format = Number(formats?.rows[0]?.[0]);
  if (format !== layout)
    throw new Refused(
      storageFailure(
        format > layout ? 'too_new' : 'io',
        `The store has layout ${format}, and this version copies layout ${layout}.`,
      ),
    );
  const results = await session.run([sql.start(), sql.tables(), sql.indexes(), sql.allBehind()]);
  const [start = [], tables = [], indexes = [], behind = []] = results.map(({ rows }) => rows);
  const tip = start.at(-1);
  if (tip === undefined) throw new Refused(storageFailure('corrupt', 'The store has no chain.'));
  const changed = indexesAt(start);
  const ids = new Map<string, Ids>();
  const kept = tables.map(([id, name]): KeptTable => {
    const own = indexes.filter(([, table]) => table === id);
    ids.set(String(name), { id: Number(id), indexes: own.map(([index]) => Number(index)) });
    return {
      name: String(name),
      index: changed.get(String(name)) ?? 1,
      isNumbered: undefined,
      indexes: own.map(([, , order]) => indexFrom(String(order))),
    };
  });
  kept.sort((one, two) => (one.name < two.name ? -1 : 1));
  return new PostgresContents(session, sql, {
    index: Number(tip[2]),
    tables: kept,
    ids,
    behind: new Set(behind.map(([id]) => Number(id))),
  });
}

/** The inverse of `orderName`. */
function indexFrom(order: string): KeptTable['indexes'][number] {
  const at = order.lastIndexOf('@');
  return { name: order.slice(0, at), version: Number(order.slice(at + 1)) };
}

interface Described {
  readonly index: number;
  readonly tables: readonly KeptTable[];
  readonly ids: ReadonlyMap<string, Ids>;
  /** Indexes that lack entries of some rows. */
  readonly behind: ReadonlySet<number>;
}

/** The content of a store, as of the transaction of a session. */
class PostgresContents implements ContentsReader {
  readonly index: number;
  readonly tables: readonly KeptTable[];
  readonly failureOf = failureOf;
  readonly #session: Session;
  readonly #sql: Sql;
  readonly #described: Described;

  constructor(session: Session, sql: Sql, described: Described) {
    this.#session = session;
    this.#sql = sql;
    this.#described = described;
    this.index = described.index;
    this.tables = described.tables;
  }

  async *rows({ name }: KeptTable): AsyncGenerator<readonly KeptRow[]> {
    const { id, indexes } = this.#described.ids.get(name) as Ids;
    const behind = indexes.filter((index) => this.#described.behind.has(index));
    for await (const found of this.#fetched(this.#sql.allRows(id, indexes, behind), 3))
      yield found.map(([key, created, modified, text, ...more]): KeptRow => {
        const entries = indexes.map((index, at) => {
          const position = more[at] ?? null;
          if (position !== null) return position.slice(0, position.length - String(key).length - 1);
          const place = behind.indexOf(index);
          return place >= 0 && more[indexes.length + place] === 't' ? undefined : null;
        });
        return {
          ...{ key: String(key), createIndex: Number(created), modifyIndex: Number(modified) },
          ...{ text: String(text), entries },
        };
      });
  }

  async *positions({ name }: KeptTable, index: number): AsyncGenerator<readonly string[]> {
    const { id, indexes } = this.#described.ids.get(name) as Ids;
    const column = indexes[index];
    if (column === undefined) return;
    for await (const found of this.#fetched(this.#sql.allPositions(id, column), 0))
      yield found.map(([position]) => String(position));
  }

  /** The rows of a query, in batches by the size of one column. */
  async *#fetched(query: string, sized: number): AsyncGenerator<readonly StatementResult['rows'][number][]> {
    await this.#session.run([{ text: `DECLARE sb_copy NO SCROLL CURSOR FOR ${query}` }]);
    try {
      const size = new BatchSize();
      for (;;) {
        const [result] = await this.#session.run([{ text: `FETCH ${size.rows} FROM sb_copy` }]);
        const found = result?.rows ?? [];
        if (found.length === 0) return;
        size.read(
          found.length,
          found.reduce((sum, columns) => sum + (columns[sized]?.length ?? 0), 0),
        );
        yield found;
      }
    } finally {
      // After a failure the transaction is over.
      await this.#session.run([{ text: 'CLOSE sb_copy' }]).catch(() => undefined);
    }
  }

  close(): Promise<void> {
    return ended(this.#session);
  }
}

/** The transaction is undone if it is still open. */
async function ended(session: Session): Promise<void> {
  await session.run([{ text: 'ROLLBACK' }]).then(
    () => session.close(),
    () => session.abandon(),
  );
}

/** Writes a store to a schema, in one transaction. */
export async function writePostgres({ url, schema }: Place): Promise<Result<ContentsWriter, StorageError>> {
  return opened(url, async (session) => {
    const sql = new Sql(schema);
    await session.run([{ text: 'BEGIN' }, withoutLimits, ...sql.lock()]);
    const [there] = await session.run([sql.hasStore()]);
    if (there?.rows[0]?.[0] === 't')
      throw new Refused(
        storageFailure(
          'io',
          `The schema ${schema} contains a store already: name another schema, or drop this one. Nothing was changed.`,
        ),
      );
    const [has] = await session.run([sql.hasSchema()]);
    if (has?.rows[0]?.[0] !== 't') await session.run([sql.createSchema()]);
    const id = randomUUID();
    await session.run(sql.createStore(id));
    return new PostgresCopy(session, new Session(await connectionsTo(url), answerMs), sql, id);
  });
}

class PostgresCopy implements ContentsWriter {
  readonly failureOf = failureOf;
  readonly #session: Session;
  /** Another one, in case that the connection is lost at the end. */
  readonly #spare: Session;
  readonly #sql: Sql;
  readonly #id: string;
  readonly #ids = new Map<string, Ids>();

  constructor(session: Session, spare: Session, sql: Sql, id: string) {
    this.#session = session;
    this.#spare = spare;
    this.#sql = sql;
    this.#id = id;
  }

  async begin({ index, tables }: Pick<ContentsReader, 'index' | 'tables'>): Promise<void> {
    let last = 0;
    const statements = tables.flatMap(({ name, indexes }, at) => {
      const table = at + 1;
      const columns = indexes.map((each) => {
        last += 1;
        return { id: last, order: orderName(each) };
      });
      this.#ids.set(name, { id: table, indexes: columns.map(({ id }) => id) });
      return [
        ...this.#sql.createTable(table, name),
        ...columns.flatMap(({ id, order }) => this.#sql.addColumn(table, id, order)),
      ];
    });
    const changed = Object.fromEntries(tables.map((table) => [table.name, table.index]));
    await this.#session.run([this.#sql.beginAt(index, JSON.stringify(changed)), ...statements]);
  }

  async write({ name }: KeptTable, rows: readonly KeptRow[]): Promise<void> {
    const { id, indexes } = this.#ids.get(name) as Ids;
    const columns = [
      texts(rows.map(({ key }) => key)),
      numbers(rows.map(({ createIndex }) => createIndex)),
      numbers(rows.map(({ modifyIndex }) => modifyIndex)),
      texts(rows.map(({ text }) => text)),
      ...indexes.map((_index, at) =>
        texts(
          rows.map(({ key, entries }) => {
            const entry = entries[at] ?? null;
            return entry === null ? undefined : encodeEntry(entry, key);
          }),
        ),
      ),
    ];
    const behind = indexes.flatMap((index, at) => {
      const keys = rows.filter(({ entries }) => entries[at] === undefined).map(({ key }) => key);
      return keys.length === 0 ? [] : [this.#sql.fallBehind(index, keys)];
    });
    await this.#session.run([this.#sql.addRows(id, indexes, columns), ...behind]);
  }

  async finish(): Promise<ContentsReader> {
    for (const { id, indexes } of this.#ids.values()) {
      for (const index of indexes) await this.#session.run([this.#sql.createIndex(id, index)]);
      await this.#session.run([this.#sql.analyze(id)]);
    }
    return readContents(this.#session, this.#sql);
  }

  async commit(): Promise<void> {
    try {
      await this.#session.run([{ text: 'COMMIT' }]);
    } catch (thrown) {
      if (!(thrown instanceof ConnectionLost)) throw thrown;
      // It may have been committed. The lock is free when the server has ended the lost session.
      const [, , there] = await this.#spare.run([{ text: 'BEGIN' }, ...this.#sql.lock(), this.#sql.hasStore()]);
      if (there?.rows[0]?.[0] !== 't') throw thrown;
      const [trace] = await this.#spare.run([this.#sql.traceOf({ seq: 0, id: this.#id })]);
      if (trace?.rows[0]?.[0] !== 't') throw thrown;
    }
  }

  async close(): Promise<void> {
    await ended(this.#session);
    this.#spare.abandon();
  }
}
