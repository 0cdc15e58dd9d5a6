import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';
import { afterEach, describe, expect, it } from 'vitest';
import { endAll, start } from '../adapters/cli/cli-process.js';

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

it('the main entry loads at most 340 KB of ASCII in 5 files, and no operation or loop', () => {
  const loaded = loadedWith('index.js');
  console.log(`the main entry loads ${kilobytesOf(loaded).toFixed(0)} KB in ${loaded.size} files`);
  expect([kilobytesOf(loaded) < 340, loaded.size <= 5]).toEqual([true, true]);
  expect([...loaded].filter((file) => !/^[\0-\x7f]*$/.test(readFileSync(join('dist', file), 'utf8')))).toEqual([]);
  const modules = [...loaded].flatMap((file) => contents[file] ?? []);
  const later = /^src\/(all-operations|operations\/commit)\.ts$|^src\/operations\/.*-loop\.ts$|^src\/json-schema\//;
  expect(modules.filter((path) => later.test(path))).toEqual([]);
});

it('the main entry exports no operation: callers use `engine.as`, and hosts `engine.host`', () => {
  const program = ts.createProgram(['src/index.ts'], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile('src/index.ts');
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  const values = (module === undefined ? [] : checker.getExportsOfModule(module)).flatMap((symbol) => {
    const declared = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const file = declared.declarations?.[0]?.getSourceFile().fileName ?? '';
    return (declared.flags & ts.SymbolFlags.Function) !== 0 && /src\/operations\//.test(file) ? [symbol.name] : [];
  });
  // Without an engine: what reads or writes an export of a store, copies a principal, or reads nothing.
  expect(values.sort()).toEqual(['callerWithin', 'exportStore', 'readNothing', 'readStoreExport']);
});

const firstUse = `
  import { createEngine, hostPrincipal } from './dist/index.js';
  import { manualClock, memoryStorage, recordingDelivery, sequentialIds } from './dist/memory.js';
  const clock = manualClock();
  const errors = [];
  const note = (fields) => errors.push(fields.error);
  const logger = { debug() {}, info() {}, warn() {}, error: note };
  const engine = createEngine({ storage: memoryStorage(), clock, ids: sequentialIds(), delivery: recordingDelivery({ clock }), logger });
`;

it('a manual clock does not move before the loops of its engine have been loaded', () => {
  const program = `${firstUse}
    engine.start();
    await clock.settle();
    console.log(clock.sleepers > 0);
    console.log((await engine.as(hostPrincipal).workspaces.put('ws-1', { name: 'a', organization: 'o' })).isOk());
    await engine.stop();
  `;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(printed).toBe('true\ntrue\n');
});

it('says so when its files are missing, in calls and in the log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-start-'));
  try {
    cpSync('dist', join(folder, 'dist'), { recursive: true });
    cpSync('package.json', join(folder, 'package.json'));
    rmSync(join(folder, 'dist/chunks/all-operations.js'));
    const program = `${firstUse}
      engine.start();
      await clock.settle();
      const seen = async (work) => { try { await work(); } catch (error) { return error.message; } };
      console.log(JSON.stringify([...errors, await seen(() => engine.host.bootstrapToken()), await seen(() => engine.as(hostPrincipal).jobs.list())]));
      await engine.stop();
    `;
    const args = ['--input-type=module', '-e', program];
    const messages = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', cwd: folder })) as string[];
    const clear = expect.stringMatching(
      /^A file of the package signalbox cannot be loaded; install .*all-operations\.js/,
    );
    expect(messages).toEqual([clear, clear, clear]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('the import of the main entry takes no more than four empty processes, side by side', () => {
  const [empty = 0, imported = 0] = processorTimes(['', "import './dist/index.js';"], 5);
  const beyond = imported - empty;
  console.log(
    `the import takes ${beyond.toFixed(0)} ms of processor time beyond the ${empty.toFixed(0)} ms of an empty process`,
  );
  expect(beyond / empty).toBeLessThan(4);
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

describe('npm start', () => {
  afterEach(endAll);

  it('passes the signal of a supervisor on to the server', async () => {
    const options = ['--listen', '127.0.0.1:0', '--store', 'memory', '--no-runner'];
    const child = start('npm', ['start', '--', ...options]);
    const origin = await child.origin();
    expect((await fetch(`${origin}/health`)).status).toBe(200);
    child.process.kill('SIGTERM');
    await child.ended;
    await expect(fetch(`${origin}/health`)).rejects.toThrow();
  });
});
