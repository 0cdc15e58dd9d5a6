import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, unknown>;
  version: string;
};
const subpaths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
const specifiers = subpaths.map((path) => `signalbox${path.slice(1)}`);
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

  it('does not bring tests, sources or tools', () => {
    const [packed] = JSON.parse(run('npm', ['pack', '--ignore-scripts', '--dry-run', '--json'], process.cwd())) as {
      files: { path: string }[];
    }[];
    const strangers = packed?.files
      .map(({ path }) => path)
      .filter(
        (path) => !/^(dist\/|README\.md$|LICENSE$|CHANGELOG\.md$|THIRD-PARTY-NOTICES\.md$|package\.json$)/.test(path),
      );
    expect(strangers).toEqual([]);
  });
});
