import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

/*
 * Loaded into a server before its own code (`node --import`): a disk that is full while the file FULL_DISK_CONTROL exists, without a
 * file system of its own. The file begins with a number n: the n-th write from then on below FULL_DISK_FOLDER and all further ones fail
 * with `ENOSPC`. The size of `FULL_DISK_CONTROL.hits` is the number of failed writes. With FULL_DISK_STORE, SQLite may not enlarge its
 * file meanwhile either, which it reports as `SQLITE_FULL`. With FULL_DISK_HANDLES, it is not the disk that is full, but all file
 * handles are used up: the reads there and in /proc fail with `EMFILE`, and not the writes.
 */
const { FULL_DISK_CONTROL: control = '', FULL_DISK_FOLDER: folder = '', FULL_DISK_HANDLES: handles } = process.env;
const real = { ...fs };
const realPromises = { ...fs.promises };
let order = '';
let allowed = 0;

const lacking = handles === undefined ? { code: 'ENOSPC', errno: -28 } : { code: 'EMFILE', errno: -24 };

/** Throws if the access to this path must fail. */
function step(path: unknown, access: 'read' | 'write' = 'write'): void {
  if ((access === 'read') === (handles === undefined)) return;
  if (!String(path).startsWith(folder) && !(access === 'read' && String(path).startsWith('/proc'))) return;
  let text: string;
  try {
    text = real.readFileSync(control, 'utf8');
  } catch {
    return;
  }
  if (text !== order) allowed = Number.parseInt(text, 10) - 1;
  order = text;
  if (allowed > 0) {
    allowed -= 1;
    return;
  }
  real.appendFileSync(`${control}.hits`, '.');
  throw Object.assign(new Error(`${lacking.code}: '${String(path)}'`), lacking);
}

const isWriting = (flags: string | number = 'r'): boolean =>
  typeof flags === 'number' ? (flags & fs.constants.O_CREAT) !== 0 : /[wa]/.test(flags);

/** The paths of open files that are being written. */
const opened = new Map<number, string>();

function patchSync(): void {
  fs.writeFileSync = ((...args: Parameters<typeof fs.writeFileSync>) => {
    step(args[0]);
    real.writeFileSync(...args);
  }) as typeof fs.writeFileSync;
  fs.mkdirSync = ((...args: Parameters<typeof fs.mkdirSync>) => {
    if (!real.existsSync(args[0])) step(args[0]);
    return real.mkdirSync(...args);
  }) as typeof fs.mkdirSync;
  fs.openSync = ((...args: Parameters<typeof fs.openSync>) => {
    step(args[0], isWriting(args[1]) ? 'write' : 'read');
    const file = real.openSync(...args);
    if (isWriting(args[1])) opened.set(file, String(args[0]));
    return file;
  }) as typeof fs.openSync;
  fs.writeSync = ((...args: Parameters<typeof fs.writeSync>) => {
    step(opened.get(args[0]));
    return real.writeSync(...args);
  }) as typeof fs.writeSync;
  fs.closeSync = (file) => {
    opened.delete(file);
    real.closeSync(file);
  };
}

function patchReads(): void {
  fs.readFileSync = ((...args: Parameters<typeof fs.readFileSync>) => {
    step(args[0], 'read');
    return real.readFileSync(...args);
  }) as typeof fs.readFileSync;
  fs.readdirSync = ((...args: Parameters<typeof fs.readdirSync>) => {
    step(args[0], 'read');
    return real.readdirSync(...args);
  }) as typeof fs.readdirSync;
}

function patchPromises(): void {
  const promises = fs.promises as { -readonly [K in keyof typeof fs.promises]: (typeof fs.promises)[K] };
  promises.writeFile = async (...args) => {
    step(args[0]);
    await realPromises.writeFile(...args);
  };
  promises.mkdir = (async (...args: Parameters<typeof fs.promises.mkdir>) => {
    if (!real.existsSync(args[0])) step(args[0]);
    return realPromises.mkdir(...args);
  }) as typeof fs.promises.mkdir;
  promises.open = async (...args) => {
    step(args[0], isWriting(args[1]) ? 'write' : 'read');
    const handle = await realPromises.open(...args);
    const writeFile = handle.writeFile.bind(handle);
    handle.writeFile = async (...given) => {
      step(args[0]);
      await writeFile(...given);
    };
    return handle;
  };
}

interface Connection {
  prepare(sql: string): { get(): unknown };
}

interface Driver {
  readonly prototype: Connection;
}

/** Keeps the store's file at its size while the disk is full. Runs between two transactions, which are synchronous. */
function limitStores(): void {
  const builtin = process.getBuiltinModule?.('node:sqlite') as { readonly DatabaseSync: Driver } | undefined;
  const load = createRequire(join(process.cwd(), 'package.json'));
  const { prototype } = builtin?.DatabaseSync ?? (load('better-sqlite3') as Driver);
  const connections = new Set<Connection>();
  const prepare = prototype.prepare;
  prototype.prepare = function (this: Connection, sql) {
    connections.add(this);
    return prepare.call(this, sql);
  };
  let full = false;
  setInterval(() => {
    if (real.existsSync(control) === full) return;
    full = !full;
    for (const each of connections)
      try {
        const { page_count: pages } = prepare.call(each, 'PRAGMA page_count').get() as { readonly page_count: number };
        prepare.call(each, `PRAGMA max_page_count = ${full ? pages : 1_000_000}`).get();
      } catch {
        // It has been closed.
        connections.delete(each);
      }
  }, 5).unref();
}

patchSync();
patchReads();
patchPromises();
syncBuiltinESMExports();
if (process.env['FULL_DISK_STORE'] !== undefined) limitStores();
