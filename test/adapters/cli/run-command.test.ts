import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../adapters/cli/run-command.js';
import { readTextFile } from '../../../adapters/cli/terminal.js';

/** Command lines that end by themselves, run in this process. */

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'signalbox-cli-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function run(
  args: readonly string[],
  options: { readonly colours?: boolean } = {},
): Promise<{ readonly code: number; readonly out: string; readonly error: string }> {
  let out = '';
  let error = '';
  const code = await runCommand(args, {
    out: (text) => {
      out += text;
    },
    error: (text) => {
      error += text;
    },
    read: readTextFile,
    colours: options.colours ?? false,
    environment: {},
  });
  return { code, out, error };
}

async function write(name: string, content: unknown): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const jobFile = `
job "from-cli" {
  type = "batch"
  group "g" {
    task "t" {
      driver = "raw_exec"
      config { command = "/bin/true" }
    }
  }
}
`;

describe('signalbox serve', () => {
  it.each<[string, readonly string[], number, RegExp]>([
    ['open access on a public address', ['--access', 'open', '--listen', '0.0.0.0:0'], 2, /loopback/],
    ['an unknown option', ['--colour', 'red'], 2, /--colour/],
    [
      'an unknown range',
      ['--allow-outbound', '10.0.0.0/99'],
      2,
      /--allow-outbound takes address ranges .*10\.0\.0\.0\/99/,
    ],
    ['a store that cannot be', ['--store', 'sqlite:/nowhere/at/all.db'], 1, /the store cannot be opened/],
    ['a seed file that is not there', ['--seed', '/nowhere/seed.json'], 1, /the seed file cannot be read/],
  ])('refuses %s', async (_what, args, code, message) => {
    const ended = await run(['serve', '--listen', '127.0.0.1:0', '--no-runner', ...args]);
    expect(ended.code).toBe(code);
    expect(ended.error).toMatch(message);
    expect(ended.out).toBe('');
  });

  it('names the position of a fault in the seed file', async () => {
    const syntax = await write('syntax.json', '{\n  "users": [,]\n}');
    const first = await run(['serve', '--seed', syntax, '--no-runner']);
    expect(first).toEqual({ code: 1, out: '', error: `signalbox: ${syntax}:2:13: expected a value\n` });
    const user = { id: 'a b', username: 'x', email: 'x@y.z', organization: 'o' };
    const meaning = await write('meaning.json', { users: [user] });
    const second = await run(['serve', '--listen', '127.0.0.1:0', '--seed', meaning, '--no-runner']);
    expect(second.code).toBe(1);
    expect(second.error).toMatch(/^signalbox: .*\/users\/0\/id/);
  });

  it('says that the port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const ended = await run(['serve', '--listen', `127.0.0.1:${port}`, '--no-runner']);
    expect(ended.code).toBe(1);
    expect(ended.error).toMatch(/^signalbox: cannot listen: .*EADDRINUSE/);
    taken.close();
  });
});

describe('signalbox parse and job', () => {
  it('prints the job of a file', async () => {
    const { code, out, error } = await run(['parse', await write('good.hcl', jobFile), '--canonicalize']);
    expect([code, error]).toEqual([0, '']);
    expect(JSON.parse(out)).toMatchObject({ ID: 'from-cli', Namespace: 'default' });
  });

  it('shows the faults of a file with their positions, in colour when asked', async () => {
    const path = await write('bad.hcl', 'job "x" {\n  tpye = "batch"\n}\n');
    const plain = await run(['parse', path]);
    expect(plain.code).toBe(1);
    expect(plain.error).toContain('bad.hcl:2');
    expect(plain.error).not.toContain('\u001b[');
    expect((await run(['parse', path], { colours: true })).error).toContain('\u001b[');
  });

  it('says when there is no server', async () => {
    const ended = await run(['job', 'run', await write('nobody.hcl', jobFile), '--address', 'http://127.0.0.1:9']);
    expect(ended.code).toBe(1);
    expect(ended.error).toMatch(/http:\/\/127\.0\.0\.1:9 cannot be reached/);
  });

  it.each([
    'http://user:sesame@127.0.0.1:9',
    'http://user:se/same@127.0.0.1:9',
    'ftp://user:sesame@127.0.0.1',
    'user:sesame@127.0.0.1:9',
  ])('never tells the password in the address %s', async (address) => {
    for (const words of [
      ['operator', 'api', '/v1/jobs'],
      ['job', 'status'],
    ]) {
      const ended = await run([...words, '--address', address]);
      expect(ended.code).toBeGreaterThan(0);
      expect(ended.error).toContain('127.0.0.1');
      expect(ended.error + ended.out).not.toContain('same');
    }
  });

  it.each<[readonly string[], RegExp]>([
    [['fly'], /no command "fly"/],
    [['job', 'fly'], /no command "job fly"/],
    [['parse'], /parse needs FILE/],
    [['parse', 'a', 'b'], /"b" is an unexpected argument/],
    [['parse', 'x.hcl', '--var', 'novalue'], /cannot be read|--var takes/],
    [['job', 'run', 'x', '--nonsense'], /--nonsense/],
  ])('refuses %j', async (args, message) => {
    const ended = await run(args);
    expect(ended.code).toBeGreaterThan(0);
    expect(ended.error).toMatch(message);
  });

  it('explains itself', async () => {
    const help = await run(['--help']);
    expect(help.code).toBe(0);
    expect(help.out).toMatch(/signalbox help TOPIC/);
    expect((await run(['help', 'serve'])).out).toMatch(/--notifications-base/);
    expect((await run([])).code).toBe(2);
  });
});
