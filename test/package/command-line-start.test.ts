import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

/** The built files that are loaded when this one is, with it. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^;'"]*["'](\.\/[^"']+)["'];$/gm);
  for (const [, path = ''] of imports) loadedWith(join(dirname(file), path), found);
  return found;
}

it('the command line begins without the engine and the configuration language', () => {
  const loaded = [...loadedWith('dist/cli.js')];
  const text = loaded.map((file) => readFileSync(file, 'utf8')).join('\n');
  for (const path of [
    'src/operations/',
    'src/scheduler/',
    'src/hcl/syntax/',
    'src/hcl/functions/',
    'src/jobs/validation/',
  ]) {
    expect(text, path).not.toContain(`\n// ${path}`);
  }
  expect(text).not.toMatch(/from "zod"/);
  expect(text).toContain('\n// adapters/cli/');
  const kilobytes = loaded.reduce((sum, file) => sum + statSync(file).size, 0) / 1024;
  console.log(`the command line loads ${kilobytes.toFixed(0)} KB at its start`);
  expect(kilobytes).toBeLessThan(600);
});
