import { createHash } from 'node:crypto';

/*
 * Several statements in one round trip, with one Sync, which ends the implicit transaction if they began none. Portals end with the
 * transaction, as poolers need it. Statements that come again and again are named, so that the server keeps them parsed: half of what a small
 * one costs it. A pooler that hands a connection to others between transactions may not have them; see `Session`.
 */

/** A parameter: text in its usual form, or a value in PostgreSQL's binary form. */
export type Parameter = string | Buffer | null;

export interface Statement {
  readonly text: string;
  readonly values?: readonly Parameter[];
  /**
   * It comes again and again, and its plan serves tables of any size: a plan that is kept may read all of a table that was small when it was
   * made.
   */
  readonly isFrequent?: true;
  /** It takes as long as a whole table. */
  readonly isLong?: true;
}

/** After so many uses a statement is parsed and planned again: the chain grows. */
const planUses = 500;
const mostNames = 500;

/** The statements that one connection keeps parsed. A name is made from its text, so that it means the same to all who share a server. */
export class KeptStatements {
  readonly #kept = new Map<string, { readonly name: string; uses: number }>();

  /** The name that a statement has there, and whether it is still to be parsed; undefined for a statement without a name. */
  use({ text, isFrequent }: Statement): { readonly name: string; readonly isNew: boolean } | undefined {
    if (isFrequent !== true) return undefined;
    let kept = this.#kept.get(text);
    if (kept === undefined) {
      if (this.#kept.size >= mostNames) return undefined;
      kept = { name: `sb_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`, uses: 0 };
      this.#kept.set(text, kept);
    }
    kept.uses += 1;
    return { name: kept.name, isNew: kept.uses % planUses === 1 };
  }

  /** After an error it is not known what was parsed before it. */
  forget(): void {
    this.#kept.clear();
  }
}

/** Statements of one round trip. */
export interface Pipeline {
  readonly statements: readonly Statement[];
  /**
   * All are bound before the first one is executed, so that their data is there before a lock is taken. Otherwise each is executed before the
   * next one is bound, so that a query sees what was committed while the statement before it waited.
   */
  readonly isBoundFirst: boolean;
}

/** Rows as text, null for NULL; and how many rows a statement without rows has changed. */
export interface StatementResult {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly count: number;
}

/** What `pg` passes to query objects. */
interface WireConnection {
  readonly stream: { cork?(): void; uncork?(): void; destroy(): void };
  parse(message: { readonly text: string; readonly name: string; readonly types: readonly number[] }): void;
  close(message: { readonly type: 'S'; readonly name: string }): void;
  bind(message: {
    readonly portal: string;
    readonly statement: string;
    readonly values: readonly Parameter[];
    readonly binary: boolean;
  }): void;
  execute(message: { readonly portal: string; readonly rows: number }): void;
  sync(): void;
  sendCopyFail?(message: string): void;
}

/** A connection of `pg`, or one that a pool has lent. */
export interface PgClient {
  query(query: PipelineQuery): unknown;
  on(event: string, listener: (...values: never[]) => void): unknown;
  removeListener(event: string, listener: (...values: never[]) => void): unknown;
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: { destroy?(): void } };
}

let portals = 0;

function nextPortal(): string {
  portals = (portals + 1) % 1e9;
  return `p${portals}`;
}

/** A query object as `pg` runs it. */
export class PipelineQuery {
  /** `pg` sets a function when it has a timeout. */
  callback: ((error: Error | undefined, results?: StatementResult[]) => void) | undefined;
  /** No named statement. */
  readonly name = undefined;
  readonly #kept: KeptStatements | undefined;
  readonly #results: { rows: (string | null)[][]; count: number }[] = [];
  #rows: (string | null)[][] = [];

  readonly #onRow: (() => void) | undefined;

  /** `kept`: what its connection keeps; undefined where no statement is to have a name. `onRow` is called for each row that arrives. */
  constructor(
    readonly pipeline: Pipeline,
    callback: (error: Error | undefined, results?: StatementResult[]) => void,
    { kept, onRow }: { readonly kept?: KeptStatements | undefined; readonly onRow?: () => void } = {},
  ) {
    this.#kept = kept;
    this.#onRow = onRow;
    this.callback = callback;
  }

  submit(connection: WireConnection): null {
    const { stream } = connection;
    stream.cork?.();
    try {
      const { statements, isBoundFirst } = this.pipeline;
      const bound: string[] = [];
      for (const statement of statements) {
        // A portal lives until the end of its transaction.
        const portal = isBoundFirst ? nextPortal() : '';
        const name = this.#parse(connection, statement);
        connection.bind({ portal, statement: name, values: statement.values ?? [], binary: false });
        if (isBoundFirst) bound.push(portal);
        else connection.execute({ portal, rows: 0 });
      }
      for (const portal of bound) connection.execute({ portal, rows: 0 });
      connection.sync();
    } finally {
      stream.uncork?.();
    }
    return null;
  }

  /** The name of the statement, which is parsed unless it was before. */
  #parse(connection: WireConnection, statement: Statement): string {
    const { name, isNew } = this.#kept?.use(statement) ?? { name: '', isNew: true };
    if (!isNew) return name;
    // It may be there: somebody else who shares the connection has parsed it, or a transaction that has failed.
    if (name !== '') connection.close({ type: 'S', name });
    connection.parse({ text: statement.text, name, types: [] });
    return name;
  }

  handleDataRow({ fields }: { readonly fields: (string | null)[] }): void {
    this.#rows.push(fields);
    this.#onRow?.();
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    // As in "INSERT 0 3".
    this.#results.push({ rows: this.#rows, count: Number(text.slice(text.lastIndexOf(' ') + 1)) || 0 });
    this.#rows = [];
  }

  handleEmptyQuery(): void {
    this.#results.push({ rows: [], count: 0 });
  }

  handleReadyForQuery(): void {
    this.callback?.(undefined, this.#results);
  }

  /** The error gets the number of statements that were executed before it. */
  handleError(error: Error): void {
    this.#kept?.forget();
    Object.assign(error, { completed: this.#results.length });
    this.callback?.(error);
  }

  handleRowDescription(): void {}

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: WireConnection): void {
    connection.sendCopyFail?.('not used');
  }

  handleCopyData(): void {}
}

const textOid = 25;
const int8Oid = 20;
const header = 20;

function arrayHeader(target: Buffer, oid: number, length: number, hasNull: boolean): void {
  target.writeInt32BE(1, 0);
  target.writeInt32BE(hasNull ? 1 : 0, 4);
  target.writeInt32BE(oid, 8);
  target.writeInt32BE(length, 12);
  target.writeInt32BE(1, 16);
}

/** `text[]` in binary form. */
export function texts(values: readonly (string | undefined)[]): Buffer {
  let size = header;
  const lengths = values.map((value) => {
    const length = value === undefined ? -1 : Buffer.byteLength(value);
    size += 4 + Math.max(0, length);
    return length;
  });
  const target = Buffer.allocUnsafe(size);
  arrayHeader(target, textOid, values.length, lengths.includes(-1));
  let at = header;
  for (const [i, value] of values.entries()) {
    target.writeInt32BE(lengths[i] ?? -1, at);
    at += 4;
    if (value !== undefined) at += target.write(value, at);
  }
  return target;
}

/** `int8[]` in binary form. */
export function numbers(values: readonly number[]): Buffer {
  const target = Buffer.allocUnsafe(header + 12 * values.length);
  arrayHeader(target, int8Oid, values.length, false);
  let at = header;
  for (const value of values) {
    target.writeInt32BE(8, at);
    target.writeBigInt64BE(BigInt(value), at + 4);
    at += 12;
  }
  return target;
}
