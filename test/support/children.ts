import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { recordingDelivery } from '../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../adapters/node/index.js';
import { type SqliteStorage, sqliteStorage } from '../../adapters/sqlite/index.js';
import { createEngine, type Engine, type EnginePorts, orThrow } from '../../src/index.js';

/*
 * For campaigns of several processes on one SQLite file, and for their children.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A new folder with the programs of `test/campaigns`, each in one file. */
export async function folderOf(...programs: readonly string[]): Promise<string> {
  // Children are in one file with this one, and have no need of a bundler.
  const { build } = await import('esbuild');
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-campaign-'));
  // What stays outside of the bundle is found beside it.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  await build({
    entryPoints: programs.map((name) => join(root, 'test/campaigns', `${name}.ts`)),
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
  });
  return folder;
}

/** The engine of one process. */
export async function engineOver(
  file: string,
  ports: Partial<EnginePorts> = {},
): Promise<{ readonly engine: Engine; readonly storage: SqliteStorage }> {
  const storage = orThrow(await sqliteStorage(file));
  const clock = systemClock();
  const delivery = recordingDelivery({ clock });
  return { storage, engine: createEngine({ storage, clock, ids: randomIds(), delivery, ...ports }) };
}

/** Prints a line of a child. Lines to a pipe are written at once, so that none is lost when it is killed. */
export const say = (...parts: readonly (string | number)[]): boolean => process.stdout.write(`${parts.join(' ')}\n`);

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
