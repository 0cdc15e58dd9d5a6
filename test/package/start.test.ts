import { execFileSync } from 'node:child_process';
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

function kilobytesOf(files: Iterable<string>): number {
  return [...files].reduce((sum, file) => sum + statSync(join('dist', file)).size, 0) / 1024;
}

/** Processor time of a process that ends at once, in milliseconds: the least of several runs. */
function processorTimes(programs: readonly string[], runs: number): readonly number[] {
  const times = programs.map(() => Number.POSITIVE_INFINITY);
  const report =
    "process.on('exit', () => { const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); });";
  // Certificates that are added to those of Node would be read at every start.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  for (let run = 0; run < runs; run++) {
    programs.forEach((program, at) => {
      const args = ['--input-type=module', '-e', `${program}\n${report}`];
      const printed = execFileSync(process.execPath, args, { encoding: 'utf8', env });
      times[at] = Math.min(times[at] ?? 0, Number(printed));
    });
  }
  return times;
}

it('the main entry loads at most 1.3 MB in 8 files', () => {
  const loaded = loadedWith('index.js');
  console.log(`the main entry loads ${kilobytesOf(loaded).toFixed(0)} KB in ${loaded.size} files`);
  expect([kilobytesOf(loaded) < 1_300, loaded.size <= 8]).toEqual([true, true]);
});

it('the import of the main entry takes no more than five empty processes, side by side', () => {
  const [empty = 0, imported = 0] = processorTimes(['', "import './dist/index.js';"], 5);
  const beyond = imported - empty;
  console.log(
    `the import takes ${beyond.toFixed(0)} ms of processor time beyond the ${empty.toFixed(0)} ms of an empty process`,
  );
  expect(beyond / empty).toBeLessThan(5);
});

it('the command line begins without the engine and the configuration language', () => {
  const loaded = [...loadedWith('cli.js')];
  const modules = loaded.flatMap((file) => contents[file] ?? []);
  const heavy = /^src\/(operations|scheduler|hcl\/(syntax|functions)|jobs\/validation)\/|node_modules\/zod/;
  expect(modules.filter((path) => heavy.test(path))).toEqual([]);
  expect(loaded.map((file) => readFileSync(join('dist', file), 'utf8')).join('\n')).not.toMatch(/from\s*"zod"/);
  expect(modules).toContain('adapters/cli/main.ts');
  const kilobytes = kilobytesOf(loaded);
  console.log(`the command line loads ${kilobytes.toFixed(0)} KB at its start`);
  expect(kilobytes).toBeLessThan(400);
});
