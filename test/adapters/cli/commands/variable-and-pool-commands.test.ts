import { describe, expect, it } from 'vitest';
import { signalbox } from '../cli-process.js';
import { servedCommands } from '../served-commands.js';
import { type Given, typed } from '../typed-commands.js';

/** Commands for variables and node pools against a server without a runner. */

const { run, given } = servedCommands('--no-runner');

interface VariableJson {
  readonly ModifyIndex: number;
  readonly Items: Readonly<Record<string, string>>;
}

async function variable(path: string): Promise<VariableJson> {
  return JSON.parse((await run('var', 'get', '-json', path)).out) as VariableJson;
}

describe('variables', () => {
  it('are stored, listed, read and removed', async () => {
    expect((await run('var', 'put', 'app/db', 'user=ada', 'pass=hunter2=')).out).toMatch(
      /^variable app\/db is stored, index \d+\n$/,
    );
    expect((await run('var', 'list')).out).toMatch(/^Namespace +Path +Index +Changed +Lock\ndefault +app\/db +\d+ /);
    expect((await run('var', 'list', 'other/')).out).toBe('no variables\n');
    expect((await run('var', 'list', '-filter', 'Path matches "db$"', 'app/')).out).toContain('app/db');
    const shown = await run('var', 'get', 'app/db');
    expect(shown.out).toMatch(/Path += app\/db\n.*\n\nuser += ada\npass += hunter2=\n$/s);
    expect((await run('var', 'get', '-item', 'pass', 'app/db')).out).toBe('hunter2=');
    expect((await run('var', 'get', '-item', 'pass', '-json', 'app/db')).out).toBe('"hunter2="\n');
    expect((await run('var', 'get', '-item', 'constructor', 'app/db')).error).toBe(
      'signalbox: variable app/db has no item constructor\n',
    );
    expect((await run('var', 'purge', 'app/db')).out).toBe('variable app/db is removed\n');
    expect(await run('var', 'get', 'app/db')).toMatchObject({
      code: 1,
      error: 'signalbox: there is no variable app/db\n',
    });
  });

  it('are stored only at the index that was asked for', async () => {
    expect((await run('var', 'put', '-check-index', '0', 'checked', 'a=1')).code).toBe(0);
    const { ModifyIndex } = await variable('checked');
    const refused = { code: 1, error: `signalbox: variable checked has the index ${ModifyIndex}\n` };
    expect(await run('var', 'put', '-check-index', '0', 'checked', 'a=2')).toMatchObject(refused);
    expect(await run('var', 'purge', '-check-index', '1', 'checked')).toMatchObject(refused);
    expect((await run('var', 'put', '-check-index', `${ModifyIndex}`, 'checked', 'a=2')).code).toBe(0);
    expect((await run('var', 'put', '-check-index', '9', 'missing', 'a=2')).error).toBe(
      'signalbox: there is no variable missing\n',
    );
    expect((await run('var', 'put', '-check-index', '9', '-force', 'checked', 'a=2')).code).toBe(2);
  });

  it('are taken from JSON and from files, as they were read', async () => {
    await run('namespace', 'apply', 'team');
    const stdin = { files: { '-': '{"user": "ada"}', 'key.pem': 'one\ntwo\n' } };
    expect((await given(stdin, 'var', 'put', '-namespace', 'team', 'from', '-', 'pem=@key.pem')).code).toBe(0);
    const read = (await run('var', 'get', '-json', '-namespace', 'team', 'from')).out;
    expect(JSON.parse(read)).toMatchObject({ Items: { user: 'ada', pem: 'one\ntwo\n' } });
    // What was read goes back to its own namespace, and only if nobody was faster.
    const back = { files: { 'old.json': read } };
    expect((await given(back, 'var', 'put', 'from', '@old.json', 'user=eve')).code).toBe(0);
    expect((await given(back, 'var', 'put', 'from', '@old.json')).error).toMatch(/has the index \d+/);
    expect((await given(back, 'var', 'put', '-force', 'from', '@old.json')).code).toBe(0);
    expect((await given(back, 'var', 'put', 'elsewhere', '@old.json')).code).toBe(2);
    expect((await given(back, 'var', 'put', '-namespace', 'default', 'from', '@old.json')).code).toBe(2);
    expect((await run('var', 'get', 'from')).code).toBe(1);
  });

  it('never have a value told in an error', async () => {
    const secrets = { files: { '-': '{"a": "hunter2"', f: '{"a": ["hunter2"]}' } };
    const commands = [
      ['var', 'put', 'app', 'hunter2'],
      ['var', 'put', 'app', 'hunter=2', '-'],
      ['var', 'put', 'app', '@f'],
      ['var', 'put', 'bad path', 'a=hunter2'],
      ['var', 'put', '-check-index', '77', 'app', 'a=hunter2'],
      ['var', 'put', '-namespace', 'nowhere', 'app', 'a=hunter2'],
    ];
    for (const words of commands) {
      const { code, out, error } = await given(secrets, ...words);
      expect(code, words.join(' ')).not.toBe(0);
      expect(`${out}${error}`).not.toContain('hunter2');
    }
  });
});

describe('policies', () => {
  it('are stored from a file, listed, shown and deleted', async () => {
    const closed = signalbox(['serve', '--listen', '127.0.0.1:0', '--access', 'token', '--no-runner']);
    const at = await closed.origin();
    const SIGNALBOX_TOKEN = await closed.printed(/shown this once: (\S+)\n/);
    const given = (what: Given, ...words: readonly string[]) =>
      typed(at, { ...what, environment: { SIGNALBOX_TOKEN } }, ...words);
    const run = (...words: readonly string[]) => given({}, ...words);
    const files = { 'reader.hcl': 'namespace "default" {\n  policy = "read"\n}\n', 'bad.hcl': 'namespace {' };
    const put = ['policy', 'put', '-description', 'may look', '-job', 'web', '-group', 'g', 'reader', 'reader.hcl'];
    expect((await given({ files }, ...put)).out).toBe('policy reader is stored\n');
    expect((await run('policy', 'list')).out).toMatch(/^Name +Description\nreader +may look\n$/);
    expect((await run('policy', 'show', 'reader')).out).toMatch(
      /^Name += reader\nDescription += may look\nWorkload += default\/web\/g\n\nnamespace "default" \{\n {2}policy = "read"\n\}\n$/,
    );
    expect((await given({ files }, 'policy', 'put', 'bad', 'bad.hcl')).code).toBe(1);
    expect((await given({ files }, 'policy', 'put', '-task', 't', 'bad', 'reader.hcl')).code).toBe(2);
    expect((await run('policy', 'delete', 'reader')).out).toBe('policy reader is deleted\n');
    expect((await run('policy', 'delete', 'reader')).error).toBe('signalbox: there is no policy reader\n');
    expect((await run('policy', 'show', 'reader')).code).toBe(1);
  });
});

describe('node pools', () => {
  it('are made, changed, shown and deleted', async () => {
    const made = ['-description', 'with GPUs', '-meta', 'a=b', '-scheduler-algorithm', 'spread', 'gpu'];
    expect((await run('node', 'pool', 'apply', ...made)).out).toBe('node pool gpu is stored\n');
    expect((await run('node', 'pool', 'apply', '-memory-oversubscription', 'true', 'gpu')).code).toBe(0);
    const { out } = await run('node', 'pool', 'status', 'gpu');
    expect(out).toMatch(/Description += with GPUs\n/);
    expect(out).toMatch(/Scheduler algorithm += spread\nMemory oversubscription += true\nMeta a += b\n/);
    expect((await run('node', 'pool', 'list')).out).toMatch(/^Name +Description\nall .*\ndefault .*\ngpu +with GPUs\n/);
    expect((await run('node', 'pool', 'list', 'g')).out).not.toContain('default');
    expect((await run('node', 'pool', 'nodes', 'gpu')).out).toBe('no nodes\n');
    expect((await run('node', 'pool', 'jobs', 'gpu')).out).toBe('no jobs\n');
    await run('node', 'pool', 'apply', '-scheduler-algorithm', '', '-memory-oversubscription', '', 'gpu');
    const after = JSON.parse((await run('node', 'pool', 'status', '-json', 'gpu')).out) as Record<string, unknown>;
    expect(after).toMatchObject({ SchedulerConfiguration: null, Description: 'with GPUs' });
    expect((await run('node', 'pool', 'delete', 'gpu')).out).toBe('node pool gpu is deleted\n');
    expect((await run('node', 'pool', 'status', 'gpu')).error).toBe('signalbox: there is no node pool gpu\n');
  });

  it('are refused with a reason', async () => {
    expect((await run('node', 'pool', 'apply', '-scheduler-algorithm', 'fastest', 'x')).code).toBe(2);
    expect((await run('node', 'pool', 'apply', '-memory-oversubscription', 'yes', 'x')).code).toBe(2);
    expect((await run('node', 'pool', 'delete', 'default')).code).toBe(1);
    expect((await run('node', 'pool', 'nodes', 'nowhere')).error).toBe('signalbox: there is no node pool nowhere\n');
  });

  it('answer an order as JSON where that is asked for', async () => {
    expect(JSON.parse((await run('node', 'pool', 'apply', '-json', 'quiet')).out)).toMatchObject({
      index: expect.any(Number),
    });
  });
});
