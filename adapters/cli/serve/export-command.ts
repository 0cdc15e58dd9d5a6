import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type ExportSink, exportStore } from '../../../src/index.js';
import type { Storage } from '../../../src/ports/index.js';
import { messageOf } from '../../../src/shared/values.js';
import { systemClock } from '../../node/index.js';
import { doubleDashed } from '../settings/read-flags.js';
import { Stopped } from '../stopped.js';
import { stderrLogger, type Terminal } from '../terminal.js';
import { keptStore, openStore } from './open-store.js';
import type { StoreOptions } from './serve-options.js';

export const exportUsage = `signalbox export [--store STORE] [--config FILE] [--out FILE]

Exports a consistent state of a store to a file that testEngine({ from }) of signalbox/testing loads. A server may use the store
meanwhile. The file contains jobs with their environment and payloads, but no tokens, variables, job sources, destinations of
notifications or e-mail addresses.

  --store STORE  sqlite:PATH or postgres://USER@HOST/DATABASE (SIGNALBOX_STORE, else the settings file)
  --config FILE  settings file (SIGNALBOX_CONFIG, else signalbox.json in the working folder)
  --out FILE     the file (standard output); it appears when it is complete, and only its owner can read it
`;

/** `signalbox export`: writes the store of a server to a file for tests. */
export async function exportCommand(given: readonly string[], terminal: Terminal): Promise<number> {
  const { out, rest } = withoutOut(doubleDashed(given));
  const storage = await storeAt(await keptStore(rest, terminal), terminal);
  try {
    if (out === null) await written(storage, () => (text) => terminal.out(text));
    else terminal.error(`signalbox: ${await exportTo(out, storage)} records\n`);
  } finally {
    await storage.close();
  }
  return 0;
}

function withoutOut(args: readonly string[]): { readonly out: string | null; readonly rest: readonly string[] } {
  const at = args.findIndex((text) => text === '--out' || text.startsWith('--out='));
  if (at < 0) return { out: null, rest: args };
  const [flag = '', next] = args.slice(at);
  const isJoined = flag.startsWith('--out=');
  const out = isJoined ? flag.slice('--out='.length) : next;
  if (out === undefined || out === '') throw new Stopped('--out takes the name of a file', 2);
  return { out, rest: args.filter((_, each) => each !== at && (isJoined || each !== at + 1)) };
}

async function storeAt(store: StoreOptions, terminal: Terminal): Promise<Storage> {
  return (await openStore(store, stderrLogger(terminal))).match(
    (storage) => storage,
    ({ message }) => {
      throw new Stopped(`the store cannot be opened: ${message}`);
    },
  );
}

function written(storage: Storage, open: () => ExportSink): Promise<number> {
  return exportStore({ storage, clock: systemClock() }, open).match(
    (rows) => rows,
    (error) => {
      throw new Stopped(`the store cannot be read: ${error.message}`);
    },
  );
}

/** Writes a temporary file beside the target and renames it when it is complete and synced. */
async function exportTo(path: string, storage: Storage): Promise<number> {
  const file = new PartialFile(placeOf(path));
  try {
    const rows = await written(storage, () => {
      file.begin();
      return (text) => file.take(text);
    });
    file.finish();
    return rows;
  } catch (error) {
    file.discard();
    if (error instanceof Stopped) throw error;
    throw new Stopped(`${path} cannot be written: ${messageOf(error)}`);
  }
}

/** The target of a link. Refuses devices, pipes and folders, which would be replaced. */
function placeOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return path;
  if (!found.isFile())
    throw new Stopped(`${path} is not a regular file: name another, or leave --out out to write to standard output`);
  return realpathSync(path);
}

/** Characters per write. */
const block = 1_000_000;

class PartialFile {
  readonly #path: string;
  readonly #beside: string;
  #file: number | undefined;
  #waiting = '';

  constructor(path: string) {
    this.#path = path;
    this.#beside = `${path}.${randomBytes(4).toString('hex')}.new`;
  }

  begin(): void {
    this.#close();
    this.#waiting = '';
    this.#file = openSync(this.#beside, 'w', 0o600);
  }

  take(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length > block) this.#flush();
  }

  finish(): void {
    this.#flush();
    if (this.#file !== undefined) fsyncSync(this.#file);
    this.#close();
    renameSync(this.#beside, this.#path);
  }

  discard(): void {
    this.#close();
    rmSync(this.#beside, { force: true });
  }

  #flush(): void {
    if (this.#file !== undefined) writeFileSync(this.#file, this.#waiting);
    this.#waiting = '';
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }
}
