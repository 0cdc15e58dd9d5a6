import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, unknown>;
  version: string;
};
const subpaths = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
const specifiers = subpaths.map((path) => `signalbox${path.slice(1)}`);
const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc');
let folder: string;
let packed: { readonly unpackedSize: number; readonly entryCount: number; readonly files: readonly { path: string }[] };

/** Uses types of several entries with each other: a value of one entry is accepted by the functions of all. */
const strictUses = `import { createEngine, type Engine, err, ok, orThrow, type Result, ResultAsync, SignalboxError } from 'signalbox';
import { connect, SignalboxError as ClientsError } from 'signalbox/client';
import { createHttpHandler } from 'signalbox/http-server';
import { type Job, jobFrom, validateJob } from 'signalbox/jobs';
import { memoryStorage } from 'signalbox/memory';
import { randomIds, systemClock } from 'signalbox/node';
import { createRunner } from 'signalbox/runner';
import { sqliteStorage } from 'signalbox/sqlite';
import { undiciDelivery } from 'signalbox/undici';
import type { Job as EnginesJob, Client } from 'signalbox';
import type { Storage } from 'signalbox/ports';
const odd = { type: 'odd' } as const;
const half = (value: number): Result<number, typeof odd> => (value % 2 === 0 ? ok(value / 2) : err(odd));
const read = async (engine: Engine): Promise<number> => (await engine.storage.read((view) => view.index)).unwrapOr(0);
const box: Client = connect({ url: 'http://127.0.0.1' });
const storages: readonly Storage[] = [memoryStorage()];
const engine = createEngine({ storage: memoryStorage(), clock: systemClock(), ids: randomIds(), delivery: undiciDelivery() });
const job: EnginesJob = jobFrom({ ID: 'a' });
const same: Job = job;
const error: SignalboxError = new ClientsError({ type: 'x' });
export const all = [orThrow(half(2)), read, ResultAsync.fromSafePromise(Promise.resolve(box)), storages, createHttpHandler(engine, { access: 'open' }), validateJob(same, {}), error, createRunner, sqliteStorage];
`;

/** Declarations of other packages would be found in the project's own folder of types. */
function typesOfNode(): readonly string[] {
  const types = join(folder, 'types');
  if (!existsSync(types)) {
    mkdirSync(types);
    symlinkSync(join(process.cwd(), 'node_modules/@types/node'), join(types, 'node'));
  }
  return ['--types', 'node', '--typeRoots', types];
}

/** By entry, the names of the values that its declarations export. */
function declaredValues(): readonly unknown[] {
  const dist = join(folder, 'node_modules/signalbox/dist');
  const files = specifiers.map((name) => join(dist, `${name.split('/')[1] ?? 'index'}.d.ts`));
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, types: [] };
  const program = ts.createProgram(files, options);
  const checker = program.getTypeChecker();
  const isValue = (symbol: ts.Symbol): boolean => {
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    const isTypeOnly = symbol.declarations?.some((each) => ts.isTypeOnlyImportOrExportDeclaration(each)) ?? false;
    return !isTypeOnly && (target.flags & ts.SymbolFlags.Value) !== 0;
  };
  return files.map((file, at) => {
    const source = program.getSourceFile(file);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    const exported = module === undefined ? [] : checker.getExportsOfModule(module);
    return [
      specifiers[at],
      exported
        .filter(isValue)
        .map(({ name }) => name)
        .sort(),
    ];
  });
}

/** The package as it would be published, installed by a stranger. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-package-'));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const report = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], process.cwd());
  [packed] = JSON.parse(report) as [typeof packed];
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true }));
  const tarball = `./signalbox-${manifest.version}.tgz`;
  run('npm', ['install', '--ignore-scripts', '--prefer-offline', ...quiet, tarball], folder);
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('the published package', () => {
  it('is at most 6 MB in 250 files', () => {
    expect({ megabytes: packed.unpackedSize <= 6_000_000, files: packed.entryCount <= 250 }).toEqual({
      megabytes: true,
      files: true,
    });
    console.log(`the package is ${(packed.unpackedSize / 1e6).toFixed(2)} MB in ${packed.entryCount} files`);
  });

  it('can be imported at every subpath', () => {
    const program = `for (const name of ${JSON.stringify(specifiers)}) console.log(name, Object.keys(await import(name)).length > 0 || name.endsWith('/ports'))`;
    const printed = run(process.execPath, ['--input-type=module', '-e', program], folder);
    expect(printed.trim().split('\n')).toEqual(specifiers.map((name) => `${name} true`));
  });

  it('can be required at every subpath, each in a process of its own and all in one, without a warning', async () => {
    const required = (names: readonly string[]): Promise<{ stdout: string; stderr: string }> => {
      const program = `for (const name of ${JSON.stringify(names)}) console.log(name, typeof require(name), require.cache !== undefined)`;
      return promisify(execFile)(process.execPath, ['--input-type=commonjs', '-e', program], { cwd: folder });
    };
    expect(await required(specifiers)).toEqual({
      stdout: specifiers.map((name) => `${name} object true\n`).join(''),
      stderr: '',
    });
    for (const name of specifiers) {
      expect(await required([name]), name).toEqual({ stdout: `${name} object true\n`, stderr: '' });
    }
  });

  it('has each class and function once: entries that export the same name export the same thing', () => {
    const program = `
      const owners = new Map();
      for (const specifier of ${JSON.stringify(specifiers)}) {
        const imported = await import(specifier);
        const required = require(specifier);
        for (const [name, value] of Object.entries(imported)) {
          if (required[name] !== value) console.log('required and imported differ:', specifier, name);
          if (typeof value === 'function') owners.set(name, (owners.get(name) ?? new Map()).set(value, specifier));
        }
      }
      for (const [name, values] of owners) if (values.size > 1) console.log(name, ...values.values());
      console.log(owners.size > 150);
    `;
    writeFileSync(
      join(folder, 'once.mjs'),
      `import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\n${program}`,
    );
    expect(run(process.execPath, ['once.mjs'], folder)).toBe('true\n');
  });

  it('exports from each entry what its declarations say, and nothing else', () => {
    const program = `for (const name of ${JSON.stringify(specifiers)}) console.log(JSON.stringify([name, Object.keys(await import(name)).sort()]))`;
    const printed = run(process.execPath, ['--input-type=module', '-e', program], folder);
    const exported = printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(exported).toEqual(declaredValues());
  }, 120_000);

  it('brings its command', () => {
    expect(run(join(folder, 'node_modules/.bin/signalbox'), ['--help'], folder)).toContain('serve');
  });

  it('serves the web page, from the command and from a handler, as both kinds of module', async () => {
    const paths = packed.files.map(({ path }) => path);
    expect(paths).toContain('dist/web/index.html');
    const scripts = paths.filter((path) => /^dist\/web\/assets\/.*\.js$/.test(path));
    expect(scripts.filter((path) => !paths.includes(`${path}.br`) || !paths.includes(`${path}.gz`))).toEqual([]);
    const child = spawn(
      join(folder, 'node_modules/.bin/signalbox'),
      ['serve', '--listen', '127.0.0.1:0', '--no-runner'],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    );
    onTestFinished(() => void child.kill());
    const printed = await new Promise<string>((resolve) => child.stdout.once('data', (line) => resolve(String(line))));
    const page = /^web page: (\S+)$/m.exec(printed)?.[1] ?? '';
    const document = await fetch(page);
    const text = await document.text();
    expect([document.status, text.includes(`"version":"${manifest.version}"`)]).toEqual([200, true]);
    const at = new URL(/src="\.\/(assets\/[^"]+)"/.exec(text)?.[1] ?? '', page);
    const script = await fetch(at, { headers: { 'accept-encoding': 'br' } });
    expect([script.status, script.headers.get('content-encoding')]).toEqual([200, 'br']);
    const body = `testEngine().then(async (world) => { const handle = createHttpHandler(world.engine, { access: 'open', page: true }); console.log((await handle(requestFrom({ target: '/ui/' }))).status); await world.stop(); });`;
    const names = ['createHttpHandler, requestFrom', 'testEngine'];
    const asModule = `import { ${names[0]} } from 'signalbox/http-server'; import { ${names[1]} } from 'signalbox/testing'; ${body}`;
    const asScript = `const { ${names[0]} } = require('signalbox/http-server'); const { ${names[1]} } = require('signalbox/testing'); ${body}`;
    expect(run(process.execPath, ['--input-type=module', '-e', asModule], folder)).toBe('200\n');
    expect(run(process.execPath, ['--input-type=commonjs', '-e', asScript], folder)).toBe('200\n');
  });

  it('reads a job file, as both kinds of module', () => {
    const source = 'job "a" {\n group "g" {\n task "t" {\n driver = regex_replace("raw1", "[0-9]", "")\n }\n }\n }';
    const body = `const read = parseJob(${JSON.stringify(source)}); if (read.isErr()) throw new Error(JSON.stringify(read.error)); console.log(read.value.job.TaskGroups[0].Tasks[0].Driver)`;
    const asModule = run(
      process.execPath,
      ['--input-type=module', '-e', `import { parseJob } from 'signalbox/jobs'; ${body}`],
      folder,
    );
    const asScript = run(
      process.execPath,
      ['--input-type=commonjs', '-e', `const { parseJob } = require('signalbox/jobs'); ${body}`],
      folder,
    );
    expect([asModule, asScript]).toEqual(['raw\n', 'raw\n']);
  });

  it('has the rules about jobs as pure functions, as both kinds of module', () => {
    const body = `const before = jobFrom({ ID: 'a' }); const after = jobFrom({ ID: 'a', Priority: 70 }); const [field] = diffJobs(before, after).value.Fields; console.log(field.Name, field.Old, field.New, validateJob(after, {}).errors.length)`;
    const asModule = run(
      process.execPath,
      ['--input-type=module', '-e', `import { diffJobs, jobFrom, validateJob } from 'signalbox/jobs'; ${body}`],
      folder,
    );
    const asScript = run(
      process.execPath,
      ['--input-type=commonjs', '-e', `const { diffJobs, jobFrom, validateJob } = require('signalbox/jobs'); ${body}`],
      folder,
    );
    expect([asModule, asScript]).toEqual(['Priority 50 70 0\n', 'Priority 50 70 0\n']);
  });

  it.each([
    { module: 'nodenext', files: ['uses.mts', 'uses.cts'] },
    { module: 'node16', files: ['uses.mts'] },
    { module: 'esnext', files: ['uses.mts'], resolution: 'bundler' },
  ])(
    'has declarations that need no further package: $module',
    ({ module, files, resolution }) => {
      // Entry points of optional peers have the types of those.
      const withPeers = ['signalbox/smtp', 'signalbox/opentelemetry'];
      const imports = specifiers
        .filter((name) => !withPeers.includes(name))
        .map((name, at) => `import type * as entry${at} from '${name}';`);
      for (const file of files) writeFileSync(join(folder, file), `${imports.join('\n')}\n${strictUses}`);
      const flags = [
        '--noEmit',
        '--strict',
        '--exactOptionalPropertyTypes',
        '--skipLibCheck',
        'false',
        '--module',
        module,
      ];
      if (resolution !== undefined) flags.push('--moduleResolution', resolution);
      const target = ['--target', 'es2023', '--lib', 'es2023,esnext.disposable'];
      run(process.execPath, [compiler, ...flags, ...target, ...typesOfNode(), ...files], folder);
      expect(existsSync(join(folder, 'node_modules/neverthrow'))).toBe(false);
      expect(existsSync(join(folder, 'node_modules/@rollup'))).toBe(false);
    },
    240_000,
  );

  it('has declarations of what a browser uses that need no types of Node, and that older compilers read', () => {
    const imports = ['client', 'jobs', 'receiver'].map((name) => `import * as ${name} from 'signalbox/${name}';`);
    writeFileSync(join(folder, 'page.ts'), `${imports.join('\n')}\nexport const all = [client, jobs, receiver];\n`);
    const flags = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'esnext'];
    const browser = ['--moduleResolution', 'bundler', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    run(process.execPath, [compiler, ...flags, ...browser, '--typeRoots', join(folder, 'none'), 'page.ts'], folder);
    const dist = join(folder, 'node_modules/signalbox/dist');
    const declarations = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.d.ts'),
    );
    // `Uint8Array` has a parameter since TypeScript 5.7.
    const newer = declarations.filter((name) => readFileSync(join(dist, name), 'utf8').includes('Uint8Array<'));
    expect([declarations.length > specifiers.length, newer]).toEqual([true, []]);
  }, 120_000);

  it('runs tasks within a service that was bundled as a script', () => {
    const source = `import { testEngine } from 'signalbox/testing';
void testEngine({ functions: {} }).then(async (world) => { console.log(world.runner.nodeId.length); await world.stop(); });
`;
    buildSync({
      stdin: { contents: source, resolveDir: folder },
      bundle: true,
      platform: 'node',
      format: 'cjs',
      logLevel: 'silent',
      outfile: join(folder, 'bundled.cjs'),
      external: ['node-pty', 'tar-stream', 'yauzl'],
    });
    expect(run(process.execPath, ['bundled.cjs'], folder)).toBe('36\n');
  });

  it('serves under Express and Fastify, and one file uses it in process and over HTTP', () => {
    for (const name of ['express', 'fastify'])
      symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name));
    for (const name of ['use.mts', 'service.mts'])
      copyFileSync(join(import.meta.dirname, 'service', name), join(folder, name));
    copyFileSync('test/adapters/http-server/express.d.ts', join(folder, 'express.d.ts'));
    const flags = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--outDir', 'built'];
    const types = ['--types', 'node', '--typeRoots', join(process.cwd(), 'node_modules/@types')];
    run(process.execPath, [compiler, ...flags, ...types, 'service.mts', 'express.d.ts'], folder);
    expect(run(process.execPath, [join('built', 'service.mjs')], folder)).toBe('1 2 3\n');
  }, 120_000);

  it('runs the functions of a strict TypeScript service', () => {
    for (const name of ['better-sqlite3', 'bindings', 'file-uri-to-path'])
      symlinkSync(join(process.cwd(), 'node_modules', name), join(folder, 'node_modules', name));
    for (const name of ['functions.mts', 'resize.mts'])
      copyFileSync(join(import.meta.dirname, 'service', name), join(folder, name));
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--skipLibCheck'];
    const flags = [
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2023,esnext.disposable',
      '--outDir',
      'built',
    ];
    run(process.execPath, [compiler, ...strict, ...flags, ...typesOfNode(), 'functions.mts', 'resize.mts'], folder);
    const printed = run(process.execPath, [join('built', 'functions.mjs'), join(folder, 'functions.sqlite')], folder);
    expect(printed).toBe('ships a-17, 3 of 3, ships b\n');
  }, 120_000);

  it('keeps the names of functions in stack traces', () => {
    const program = `import { orThrow, err } from 'signalbox'; try { orThrow(err({ type: 'x', message: 'y' })); } catch (error) { console.log(error.stack); }`;
    const trace = run(process.execPath, ['--input-type=module', '-e', program], folder);
    expect(trace).toMatch(/at (?:async )?orThrow \(/);
  });

  it('brings what it runs, its guides and its reference: no tests, sources, maps, tools or records of decisions', () => {
    const expected =
      /^(dist\/[\w/-]+\.(js|d\.ts)$|dist\/web\/(index\.html|assets\/[\w.-]+-[\w-]{8}\.(js|css|svg|woff2)(\.br|\.gz)?)$|dist\/signalbox\.schema\.json$|docs\/((guides|interfaces)\/)?[\w-]+\.md$|(README|CHANGELOG|SECURITY|THIRD-PARTY-NOTICES)\.md$|LICENSE$|package\.json$)/;
    expect(packed.files.map(({ path }) => path).filter((path) => !expected.test(path))).toEqual([]);
  });
});
