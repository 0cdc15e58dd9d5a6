import { existsSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { inject } from 'vitest';

/**
 * The command line as a program in a few files, bundled from the sources by the first test of a run that starts it: a process starts
 * in a fraction of the time that the sources take.
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
    // Another worker was first with the same.
    if (!existsSync(folder)) throw error;
  }
}
