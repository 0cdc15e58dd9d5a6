import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type BuildOptions, build, buildSync, type Plugin } from 'esbuild';
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

/** The command line of a later version, in this folder: every index of every table has a higher version. */
export async function laterCommandLine(folder: string): Promise<string> {
  const sources = /[\\/]src[\\/].*\.ts$/;
  const raised: Plugin = {
    name: 'raised-versions',
    setup: ({ onLoad }) =>
      onLoad({ filter: sources }, ({ path }) => ({
        contents: readFileSync(path, 'utf8').replace(
          /version: (\d+),(\s+key)/g,
          (_, version: string, key: string) => `version: ${Number(version) + 1},${key}`,
        ),
        loader: 'ts',
      })),
  };
  await build({ ...optionsFor(folder), plugins: [raised] });
  return join(folder, 'main.mjs');
}

const root = join(import.meta.dirname, '../..');

function optionsFor(folder: string): BuildOptions {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  for (const name of ['node_modules', 'package.json', 'dist/web']) symlinkSync(join(root, name), join(folder, name));
  return {
    entryPoints: [join(root, 'adapters/cli/main.ts')],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  };
}

function bundle(folder: string): void {
  const made = `${folder}-${process.pid}`;
  buildSync(optionsFor(made));
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another worker has created the same bundle.
    if (!existsSync(folder)) throw error;
  }
}
