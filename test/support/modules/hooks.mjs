import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Modules of the sources, as `test/global-setup.ts` has compiled them: for the module loader of Node, in a process of tests.
 */

const root = fileURLToPath(new URL('../../../', import.meta.url));
const compiled = process.env['SIGNALBOX_TEST_MODULES'];

/** An import of a file that stands for its source. */
export async function resolve(specifier, context, next) {
  if (specifier.startsWith('.') && specifier.endsWith('.js') && context.parentURL?.endsWith('.ts')) {
    const url = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
    if (existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const name = fileURLToPath(url).slice(root.length).replace(/ts$/, 'js');
  return { format: 'module', shortCircuit: true, source: await readFile(join(compiled, name)) };
}
