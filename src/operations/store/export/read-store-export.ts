import { err, ok, type Result } from 'neverthrow';
import type { RecordContents, StoreContents, TableContents } from '../../../storage/store-contents.js';
import { exportedTables } from '../../../tables.js';
import { exportFormat } from './export-store.js';

/** The string is not a complete export in this version's format. */
export interface InvalidExport {
  readonly type: 'invalid_export';
  /** From 1; one beyond the last line when the string ends too early. */
  readonly line: number;
  /** A sentence for people. */
  readonly message: string;
}

type Line = Readonly<Record<string, unknown>>;

/** The contents of an export of `exportStore`, for `memoryStorage({ contents })`. Refuses truncated exports and other formats. */
export function readStoreExport(text: string): Result<StoreContents, InvalidExport> {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const reading = new Reading();
  for (const [at, each] of lines.entries()) {
    const fault = reading.take(each);
    if (fault !== undefined) return err({ type: 'invalid_export', line: at + 1, message: fault });
  }
  const contents = reading.contents();
  const cut = 'The export is truncated.';
  return contents === undefined ? err({ type: 'invalid_export', line: lines.length + 1, message: cut }) : ok(contents);
}

/** Reads line by line; each call returns the problem of the line, if any. */
class Reading {
  #head: Pick<StoreContents, 'at' | 'index'> | undefined;
  readonly #tables: (TableContents & { readonly rows: RecordContents[] })[] = [];
  #rows = 0;
  #isWhole = false;

  take(text: string): string | undefined {
    const line = objectFrom(text);
    if (line === undefined) return 'Each line must be a JSON object.';
    if (this.#isWhole) return 'There is content after the last line of the export.';
    if (this.#head === undefined) return this.#begin(line);
    if ('table' in line) return this.#table(line);
    if ('record' in line) return this.#row(line);
    return this.#end(line);
  }

  contents(): StoreContents | undefined {
    return this.#head !== undefined && this.#isWhole ? { ...this.#head, tables: this.#tables } : undefined;
  }

  #begin({ signalboxExport, at, index }: Line): string | undefined {
    if (typeof signalboxExport !== 'number') return 'This is not an export of a store.';
    if (signalboxExport !== exportFormat) {
      return `The export has format ${signalboxExport}; this version reads format ${exportFormat}.`;
    }
    const instant = typeof at === 'string' ? Date.parse(at) : Number.NaN;
    if (Number.isNaN(instant) || !isIndex(index)) return 'The header needs a time `at` and an `index`.';
    this.#head = { at: instant, index };
    return undefined;
  }

  #table({ table: name, index }: Line): string | undefined {
    const known = exportedTables.find(({ table }) => table.name === name);
    if (known === undefined) return `This version has no table ${JSON.stringify(name)}.`;
    if (!isIndex(index)) return 'A table needs the `index` of its last change.';
    this.#tables.push({ table: known.table, index, rows: [] });
    return undefined;
  }

  #row({ createIndex, modifyIndex, record }: Line): string | undefined {
    const own = this.#tables.at(-1);
    if (own === undefined) return 'A record precedes the first table.';
    if (!isIndex(createIndex) || !isIndex(modifyIndex)) return 'A record needs `createIndex` and `modifyIndex`.';
    if (typeof record !== 'object' || record === null) return 'A record must be an object.';
    own.rows.push({ createIndex, modifyIndex, record });
    this.#rows += 1;
    return undefined;
  }

  #end({ rows }: Line): string | undefined {
    if (rows !== this.#rows) return `The export has ${this.#rows} records; its last line says ${JSON.stringify(rows)}.`;
    this.#isWhole = true;
    return undefined;
  }
}

function objectFrom(text: string): Line | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Line) : undefined;
  } catch {
    return undefined;
  }
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
