import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder that all test files of this run share; removed at its end. */
    readonly runFolder: string;
  }
}

export default function setup(project: TestProject): () => void {
  // Servers of the command line serve the built page.
  if (!existsSync('dist/web/index.html')) execFileSync(process.execPath, ['tools/build.mjs', 'page']);
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-run-'));
  project.provide('runFolder', folder);
  // Once for all projects, and only if their processes have the loader.
  if (project.config.execArgv.length > 0 && process.env['SIGNALBOX_TEST_MODULES'] === undefined) {
    const modules = join(folder, 'modules');
    process.env['SIGNALBOX_TEST_MODULES'] = modules;
    buildSync({
      entryPoints: ['src/**/*.ts', 'adapters/**/*.ts'],
      outbase: '.',
      outdir: modules,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'inline',
      sourcesContent: false,
    });
  }
  return () => rmSync(folder, { recursive: true, force: true });
}
