import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../../../src/shared/values.js';
import { doubleDashed } from '../settings/read-flags.js';
import { withoutPassword } from '../settings/store-kind.js';
import { Stopped } from '../stopped.js';
import type { Terminal } from '../terminal.js';
import { keptStore } from './open-store.js';

export const backupUsage = `signalbox backup [--store sqlite:PATH] [--config FILE] [--force] FILE

Writes a consistent copy of a store to FILE while servers may use the store. FILE appears when it is complete and synced, and only its owner
can read it. To restore the copy, put it at the path of the store while no server runs. Its secrets are encrypted with the key of
--encryption-key-file, which is not part of the copy. A store in PostgreSQL is copied by pg_dump --schema=NAME.

  --store sqlite:PATH  the store (SIGNALBOX_STORE, else the settings file)
  --config FILE        settings file (SIGNALBOX_CONFIG, else signalbox.json in the working folder)
  --force              replace FILE if it exists
`;

/** `signalbox backup FILE`: a copy of the store of a server. */
export async function backupCommand(given: readonly string[], terminal: Terminal): Promise<number> {
  const { file, force, rest } = optionsFrom(given);
  const store = await fileOf(rest, terminal);
  const to = placeFor(file, { store, force });
  const partial = join(dirname(to), `.${basename(to)}.${randomBytes(4).toString('hex')}.new`);
  try {
    // Created first, so that other users can never read it.
    closeSync(openSync(partial, 'wx', 0o600));
    const { backUpSqlite, syncPath } = await import('../../sqlite/sqlite-backup.js');
    const error = await backUpSqlite(store, partial);
    if (error !== undefined) throw new Stopped(`${store} cannot be copied: ${error.message}`);
    syncPath(partial);
    if (!force && existsSync(to))
      throw new Stopped(`${file} was created meanwhile by another program: it is left unchanged`);
    renameSync(partial, to);
    syncPath(dirname(to));
  } catch (error) {
    if (error instanceof Stopped) throw error;
    throw new Stopped(`${file} cannot be written: ${messageOf(error)}`);
  } finally {
    for (const path of [partial, `${partial}-journal`]) rmSync(path, { force: true });
  }
  terminal.out(`${file} is written, ${statSync(to).size} bytes\n`);
  return 0;
}

/** The file of the store. The tools of a database copy one state of all its tables. */
async function fileOf(args: readonly string[], terminal: Terminal): Promise<string> {
  const { place } = await keptStore(args, terminal);
  if (place.type === 'sqlite') return place.path;
  if (place.type === 'memory') throw new Stopped('a store in memory has no file', 2);
  const { schema, url } = place;
  throw new Stopped(
    `a store in PostgreSQL is copied by the tools of the database: pg_dump --format=custom --schema='"${schema}"' --file=FILE ` +
      `'${withoutPassword(url)}' while servers use it, and pg_restore --dbname=URL FILE into a database without that schema`,
    2,
  );
}

function optionsFrom(given: readonly string[]) {
  const text = { type: 'string' } as const;
  const options = { store: text, config: text, force: { type: 'boolean' } } as const;
  try {
    const { values, positionals } = parseArgs({ args: doubleDashed(given), options, allowPositionals: true });
    const [file, ...more] = positionals;
    if (file === undefined || file === '' || more.length > 0) throw new Error('expected one FILE');
    const rest = [
      ...(values.store === undefined ? [] : ['--store', values.store]),
      ...(values.config === undefined ? [] : ['--config', values.config]),
    ];
    return { file, force: values.force === true, rest };
  } catch (error) {
    throw new Stopped(`${error instanceof Error ? error.message : 'the options cannot be read'}\n\n${backupUsage}`, 2);
  }
}

/** The path of the copy; follows a link. Refuses existing files, other file types and the store's own files. */
function placeFor(file: string, { store, force }: { readonly store: string; readonly force: boolean }): string {
  const found = statSync(file, { throwIfNoEntry: false });
  const to = found === undefined ? resolve(file) : realpathSync(file);
  const own = realpathSync(store);
  const folder = dirname(to);
  if (!existsSync(folder)) throw new Stopped(`${file} cannot be written: there is no folder ${folder}`);
  const real = join(realpathSync(folder), basename(to));
  if ([own, `${own}-wal`, `${own}-shm`, `${own}-journal`].includes(real)) {
    throw new Stopped(`${file} belongs to the store itself: name another file`, 2);
  }
  if (found === undefined) return to;
  if (!found.isFile()) throw new Stopped(`${file} is not a regular file: name another one`);
  if (!force) throw new Stopped(`${file} exists already: name another file, or replace it with --force`);
  return to;
}
