import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { inject } from 'vitest';

/**
 * The command line bundled from the sources into a few files, by the first test of a run that starts it: it starts in a fraction of
 * the time of the sources.
 */
export function commandLineProgram(): string {
  const folder = join(inject('runFolder'), 'command-line');
  if (!existsSync(folder)) bundle(folder);
  return join(folder, 'main.mjs');
}

function bundle(folder: string): void {
  const root = join(import.meta.dirname, '../..');
  const made = `${folder}-${process.pid}`;
  mkdirSync(made);
  symlinkSync(join(root, 'node_modules'), join(made, 'node_modules'));
  buildSync({
    entryPoints: [join(root, 'adapters/cli/main.ts')],
    outdir: made,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another worker has created the same bundle.
    if (!existsSync(folder)) throw error;
  }
}
