import { readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** The modules in each built file, as the build notes them. */
const contents = JSON.parse(readFileSync('tmp/contents.json', 'utf8')) as Readonly<Record<string, readonly string[]>>;

/** The built files that are loaded when this one is, with it. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(join('dist', file), 'utf8').matchAll(/\b(?:import|from)\s*["'](\.\.?\/[^"']+)["']/g);
  for (const [, path = ''] of imports) loadedWith(normalize(join(dirname(file), path)), found);
  return found;
}

it('the command line begins without the engine and the configuration language', () => {
  const loaded = [...loadedWith('cli.js')];
  const modules = loaded.flatMap((file) => contents[file] ?? []);
  const heavy = /^src\/(operations|scheduler|hcl\/(syntax|functions)|jobs\/validation)\/|node_modules\/zod/;
  expect(modules.filter((path) => heavy.test(path))).toEqual([]);
  expect(loaded.map((file) => readFileSync(join('dist', file), 'utf8')).join('\n')).not.toMatch(/from\s*"zod"/);
  expect(modules).toContain('adapters/cli/main.ts');
  const kilobytes = loaded.reduce((sum, file) => sum + statSync(join('dist', file)).size, 0) / 1024;
  console.log(`the command line loads ${kilobytes.toFixed(0)} KB at its start`);
  expect(kilobytes).toBeLessThan(400);
});
