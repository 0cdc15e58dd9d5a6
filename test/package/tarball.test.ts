import { execFileSync } from 'node:child_process';
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
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, unknown>;
  version: string;
};
const subpaths = Object.keys(manifest.exports).filter((path) => !path.endsWith('.json'));
const specifiers = subpaths.map((path) => `signalbox${path.slice(1)}`);
const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc');
let folder: string;

/** The package as it would be published, installed by a stranger. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-package-'));
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], process.cwd());
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true }));
  const tarball = `./signalbox-${manifest.version}.tgz`;
  run('npm', ['install', '--ignore-scripts', '--prefer-offline', ...quiet, tarball], folder);
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

describe('the published package', () => {
  it('can be imported at every subpath', () => {
    const program = `for (const name of ${JSON.stringify(specifiers)}) console.log(name, Object.keys(await import(name)).length > 0 || name.endsWith('/ports'))`;
    const printed = run(process.execPath, ['--input-type=module', '-e', program], folder);
    expect(printed.trim().split('\n')).toEqual(specifiers.map((name) => `${name} true`));
  });

  it('can be required at every subpath', () => {
    const program = `for (const name of ${JSON.stringify(specifiers)}) console.log(name, typeof require(name))`;
    const printed = run(process.execPath, ['--input-type=commonjs', '-e', program], folder);
    expect(printed.trim().split('\n')).toEqual(specifiers.map((name) => `${name} object`));
  });

  it('brings its command', () => {
    expect(run(join(folder, 'node_modules/.bin/signalbox'), ['--help'], folder)).toContain('serve');
  });

  it('reads a job file, as both kinds of module', () => {
    const source = 'job "a" {\n group "g" {\n task "t" {\n driver = regex_replace("raw1", "[0-9]", "")\n }\n }\n }';
    const body = `const read = parseJob(${JSON.stringify(source)}); if (read.isErr()) throw new Error(JSON.stringify(read.error)); console.log(read.value.job.TaskGroups[0].Tasks[0].Driver)`;
    const asModule = run(
      process.execPath,
      ['--input-type=module', '-e', `import { parseJob } from 'signalbox'; ${body}`],
      folder,
    );
    const asScript = run(
      process.execPath,
      ['--input-type=commonjs', '-e', `const { parseJob } = require('signalbox'); ${body}`],
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

  it('has declarations that need no further package, and brings no binary', () => {
    const source = `import { type Engine, err, ok, orThrow, type Result, ResultAsync } from 'signalbox';
import { connect } from 'signalbox/client';
const odd = { type: 'odd' } as const;
const half = (value: number): Result<number, typeof odd> => (value % 2 === 0 ? ok(value / 2) : err(odd));
const read = async (engine: Engine): Promise<number> => (await engine.storage.read((view) => view.index)).unwrapOr(0);
const box = connect({ url: 'http://127.0.0.1' });
export const all = [orThrow(half(2)), read, ResultAsync.fromSafePromise(Promise.resolve(box))];
`;
    // Entry points of optional peers have the types of those.
    const withPeers = ['signalbox/smtp', 'signalbox/opentelemetry'];
    const imports = specifiers
      .filter((name) => !withPeers.includes(name))
      .map((name, at) => `import type * as entry${at} from '${name}';`);
    const all = `${imports.join('\n')}\n${source}`;
    writeFileSync(join(folder, 'uses.mts'), all);
    writeFileSync(join(folder, 'uses.cts'), all);
    // Declarations of other packages would be found in the project's own folder of types.
    mkdirSync(join(folder, 'types'));
    symlinkSync(join(process.cwd(), 'node_modules/@types/node'), join(folder, 'types/node'));
    const flags = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      'false',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2023,esnext.disposable',
    ];
    const types = ['--types', 'node', '--typeRoots', join(folder, 'types')];
    run(process.execPath, [compiler, ...flags, ...types, 'uses.mts', 'uses.cts'], folder);
    expect(existsSync(join(folder, 'node_modules/neverthrow'))).toBe(false);
    expect(existsSync(join(folder, 'node_modules/@rollup'))).toBe(false);
  }, 120_000);

  it('has declarations of what a browser uses that need no types of Node, and that older compilers read', () => {
    const imports = ['client', 'jobs', 'receiver'].map((name) => `import * as ${name} from 'signalbox/${name}';`);
    writeFileSync(join(folder, 'page.ts'), `${imports.join('\n')}\nexport const all = [client, jobs, receiver];\n`);
    const flags = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'esnext'];
    const browser = ['--moduleResolution', 'bundler', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
    run(process.execPath, [compiler, ...flags, ...browser, '--typeRoots', join(folder, 'none'), 'page.ts'], folder);
    const types = join(folder, 'node_modules/signalbox/dist/types');
    const declarations = readdirSync(types, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.d\.c?ts$/.test(name),
    );
    // `Uint8Array` has a parameter since TypeScript 5.7.
    const newer = declarations.filter((name) => readFileSync(join(types, name), 'utf8').includes('Uint8Array<'));
    expect([declarations.length > 1000, newer]).toEqual([true, []]);
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

  it('shows the sources in stack traces', () => {
    const program = `import { orThrow, err } from 'signalbox'; try { orThrow(err({ type: 'x', message: 'y' })); } catch (error) { console.log(error.stack); }`;
    const trace = run(process.execPath, ['--enable-source-maps', '--input-type=module', '-e', program], folder);
    expect(trace).toMatch(/src\/client\/or-throw\.ts:\d+/);
  });

  it('does not bring tests, sources or tools', () => {
    const [packed] = JSON.parse(run('npm', ['pack', '--ignore-scripts', '--dry-run', '--json'], process.cwd())) as {
      files: { path: string }[];
    }[];
    const strangers = packed?.files
      .map(({ path }) => path)
      .filter(
        (path) =>
          !/^(dist\/|docs\/.*\.md$|(README|ARCHITECTURE|CONTRIBUTING|CHANGELOG|SECURITY|THIRD-PARTY-NOTICES)\.md$|LICENSE$|package\.json$)/.test(
            path,
          ),
      );
    expect(strangers).toEqual([]);
  });
});
