import { err, ok, type Result } from 'neverthrow';
import type { StorageError } from '../../src/ports/storage.js';
import { failureOfRecord, storageFailure } from '../../src/storage/records.js';

/*
 * All that a store contains, in the form in which it is copied from one medium to another: also tables and indexes that only other versions
 * of the package declare.
 */

/** A table as a medium has it. */
export interface KeptTable {
  readonly name: string;
  /** Index of the last write that changed it. */
  readonly index: number;
  /** Whether rows are stored under the numbers that are their keys; undefined if the medium does not distinguish. */
  readonly isNumbered: boolean | undefined;
  readonly indexes: readonly { readonly name: string; readonly version: number }[];
}

export interface KeptRow {
  /** The encoded primary key. */
  readonly key: string;
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly text: string;
  /**
   * The encoded index key for each index of the table. Null: the index leaves the row out. Undefined: whoever wrote the row did not know the
   * index, and a program that does has to complete it.
   */
  readonly entries: readonly (string | null | undefined)[];
}

/** Reads a store on one snapshot. One iteration at a time. Its methods throw errors of the medium. */
export interface ContentsReader {
  /** Index of the last write. */
  readonly index: number;
  readonly tables: readonly KeptTable[];
  /** In the order of their keys. */
  rows(table: KeptTable): AsyncIterable<readonly KeptRow[]>;
  /** The positions in an index, see `encodeEntry`, in the order in which the medium lists them. */
  positions(table: KeptTable, index: number): AsyncIterable<readonly string[]>;
  failureOf(thrown: unknown): StorageError | undefined;
  close(): Promise<void>;
}

/** Writes a new store, which is there as a whole after `commit` and not at all before. Its methods throw errors of the medium. */
export interface ContentsWriter {
  /** Creates the tables. */
  begin(source: Pick<ContentsReader, 'index' | 'tables'>): Promise<void>;
  /** Rows of one table, in the order of their keys. The tables come in their order, too. */
  write(table: KeptTable, rows: readonly KeptRow[]): Promise<void>;
  /** Builds the indexes. What has been written can be read then. */
  finish(): Promise<ContentsReader>;
  commit(): Promise<void>;
  failureOf(thrown: unknown): StorageError | undefined;
  /** Removes what was not committed. */
  close(): Promise<void>;
}

/** A batch has about so many characters, and at most so many rows. */
const batch = { characters: 2_000_000, rows: 2000 };

/** The number of rows that are read at once: few at first, because rows may be large. */
export class BatchSize {
  #rows = 16;

  get rows(): number {
    return this.#rows;
  }

  /** Call it with each batch. */
  read(rows: number, characters: number): void {
    const fitting = Math.floor((batch.characters * rows) / Math.max(1, characters));
    this.#rows = Math.max(1, Math.min(batch.rows, 4 * this.#rows, fitting));
  }
}

interface Copied {
  readonly index: number;
  readonly tables: number;
  readonly rows: number;
  readonly indexes: number;
  /** Positions in indexes. */
  readonly positions: number;
}

/** Why a copy was not made. */
interface CopyFailure {
  readonly side: 'source' | 'target';
  readonly error: StorageError;
}

/** An exception of one side, to be passed through the code of the other one. */
class SideError extends Error {
  constructor(readonly failure: CopyFailure) {
    super(failure.error.message);
  }
}

/**
 * Copies everything, reads both and compares them, and commits the copy if they are equal. Closes both. Rejects with exceptions that are no
 * failure of a medium.
 */
export async function copyContents(
  source: ContentsReader,
  target: ContentsWriter,
): Promise<Result<Copied, CopyFailure>> {
  try {
    const writing = guard('target', target);
    await writing(() => target.begin(source));
    for (const table of source.tables) await copyRows(table, source, target);
    const copy = await writing(() => target.finish());
    const copied = await compared(source, copy);
    await writing(() => target.commit());
    return ok(copied);
  } catch (thrown) {
    if (thrown instanceof SideError) return err(thrown.failure);
    throw thrown;
  } finally {
    await target.close();
    await source.close();
  }
}

/** The next batch is read while the last one is written. */
async function copyRows(table: KeptTable, source: ContentsReader, target: ContentsWriter): Promise<void> {
  const writing = guard('target', target, `table ${table.name}: `);
  let written: Promise<void> = Promise.resolve();
  try {
    for await (const rows of read(source, 'source', table, source.rows(table))) {
      await written;
      written = writing(() => target.write(table, rows));
      // It is awaited at the next batch.
      written.catch(() => undefined);
    }
  } finally {
    await written;
  }
}

/** Compares a source with its copy. Throws for the first difference. */
async function compared(source: ContentsReader, copy: ContentsReader): Promise<Copied> {
  const differs = (where: string): never => {
    throw new SideError({
      side: 'target',
      error: storageFailure('corrupt', `what was written differs from what was read: ${where}`),
    });
  };
  if (source.index !== copy.index) differs('the index of the last write');
  const copies = new Map(copy.tables.map((table) => [table.name, table]));
  let rows = 0;
  let indexes = 0;
  let positions = 0;
  for (const table of source.tables) {
    const other = copies.get(table.name);
    const isSame = other?.index === table.index && sameList(other.indexes, table.indexes, sameIndex);
    if (other === undefined || !isSame) return differs(`table ${table.name}`);
    const iterated = <T>(
      of: (side: ContentsReader, its: KeptTable) => AsyncIterable<readonly T[]>,
      same: (one: T, two: T) => boolean,
    ): Promise<number | undefined> =>
      sameStreams(read(source, 'source', table, of(source, table)), read(copy, 'target', other, of(copy, other)), same);
    rows += (await iterated((side, its) => side.rows(its), sameRow)) ?? differs(`rows of table ${table.name}`);
    for (const [at, { name }] of table.indexes.entries()) {
      positions +=
        (await iterated((side, its) => side.positions(its, at), Object.is)) ??
        differs(`index ${name} of table ${table.name}`);
      indexes += 1;
    }
  }
  return { index: source.index, tables: source.tables.length, rows, indexes, positions };
}

/** The number of items; undefined if the streams differ. */
async function sameStreams<T>(
  one: AsyncGenerator<readonly T[]>,
  two: AsyncGenerator<readonly T[]>,
  same: (one: T, two: T) => boolean,
): Promise<number | undefined> {
  const [left, right] = [new Items(one), new Items(two)];
  try {
    for (let count = 0; ; count += 1) {
      // Only at the end of a batch something is awaited.
      if (left.isUsedUp) await left.refill();
      if (right.isUsedUp) await right.refill();
      if (left.isUsedUp || right.isUsedUp) return left.isUsedUp && right.isUsedUp ? count : undefined;
      if (!same(left.take(), right.take())) return undefined;
    }
  } finally {
    await one.return(undefined);
    await two.return(undefined);
  }
}

class Items<T> {
  readonly #batches: AsyncGenerator<readonly T[]>;
  #batch: readonly T[] = [];
  #at = 0;

  constructor(batches: AsyncGenerator<readonly T[]>) {
    this.#batches = batches;
  }

  get isUsedUp(): boolean {
    return this.#at >= this.#batch.length;
  }

  /** Used up afterwards only at the end. */
  async refill(): Promise<void> {
    for (;;) {
      const { value, done } = await this.#batches.next();
      this.#batch = done === true ? [] : value;
      this.#at = 0;
      if (done === true || this.#batch.length > 0) return;
    }
  }

  take(): T {
    this.#at += 1;
    return this.#batch[this.#at - 1] as T;
  }
}

function sameRow(one: KeptRow, two: KeptRow): boolean {
  return (
    one.key === two.key &&
    one.text === two.text &&
    one.createIndex === two.createIndex &&
    one.modifyIndex === two.modifyIndex &&
    sameList(one.entries, two.entries, Object.is)
  );
}

type KeptIndex = KeptTable['indexes'][number];

function sameIndex(one: KeptIndex, two: KeptIndex): boolean {
  return one.name === two.name && one.version === two.version;
}

function sameList<T>(one: readonly T[], two: readonly T[], same: (one: T, two: T) => boolean): boolean {
  return one.length === two.length && one.every((item, at) => same(item, two[at] as T));
}

type Side = CopyFailure['side'];

async function* read<T>(
  reader: ContentsReader,
  side: Side,
  { name }: KeptTable,
  batches: AsyncIterable<T>,
): AsyncGenerator<T> {
  const iterator = batches[Symbol.asyncIterator]();
  const reading = guard(side, reader, `table ${name}: `);
  try {
    for (;;) {
      const next = await reading(() => iterator.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await reading(async () => iterator.return?.());
  }
}

/** Runs code of one side: its failures are thrown as `SideError`. */
function guard(side: Side, { failureOf }: Pick<ContentsReader, 'failureOf'>, where = '') {
  return async <T>(run: () => Promise<T>): Promise<T> => {
    try {
      return await run();
    } catch (thrown) {
      const error = failureOf(thrown) ?? failureOfRecord(thrown);
      if (error === undefined) throw thrown;
      throw new SideError({ side, error: { ...error, message: `${where}${error.message}` } });
    }
  };
}
