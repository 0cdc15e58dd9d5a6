import { describe, expect, it } from 'vitest';
import { command } from '../../../../adapters/cli/command-line/command.js';
import { adviceForCommand, translateNomadCommand } from '../../../../adapters/cli/command-line/nomad-commands.js';
import { readArguments } from '../../../../adapters/cli/command-line/read-arguments.js';
import { commands } from '../../../../adapters/cli/commands/index.js';
import { typed } from '../typed-commands.js';

describe('words of another command line', () => {
  it.each([
    ['run web.hcl', 'job run web.hcl'],
    ['logs -f 3f2a', 'alloc logs -f 3f2a'],
    ['acl token list', 'token list'],
    ['acl token self', 'token show'],
    ['acl token', 'token'],
    ['acl policy apply reader reader.hcl', 'policy put reader reader.hcl'],
    ['operator scheduler get-config -json', 'operator scheduler get -json'],
    ['job run web.hcl', 'job run web.hcl'],
    ['constructor', 'constructor'],
    ['', ''],
  ])('%s is %s', (given, own) => {
    expect(translateNomadCommand(given.split(' ')).join(' ')).toBe(own);
  });

  it('mean commands that there are', () => {
    const known = commands.map(({ words }) => words);
    for (const words of ['run', 'plan', 'stop', 'validate', 'inspect', 'action', 'logs', 'exec', 'fs', 'agent-info']) {
      const own = translateNomadCommand([words]).join(' ');
      expect(
        known.some((each) => own === each || own.startsWith(`${each} `)),
        own,
      ).toBe(true);
      expect(known).not.toContain(words);
    }
  });
});

describe('a command of another command line that is not here', () => {
  it.each([
    ['operator raft list-peers', 'operator raft', /share one store/],
    ['volume', 'volume', /--volume/],
    ['acl auth-method list -json', 'acl auth-method', /create tokens with signalbox token create/],
    ['ui', 'ui', /no web interface/],
  ])('%s is named, with what there is', async (given, words, advice) => {
    const { code, error } = await typed('http://127.0.0.1:1', {}, ...given.split(' '));
    expect(code).toBe(2);
    expect(error).toContain(`there is no command "${words}": `);
    expect(error).toMatch(advice);
  });

  it('is none that is here', () => {
    for (const { words } of commands) expect(adviceForCommand(words.split(' ')), words).toBeUndefined();
    expect(adviceForCommand(['constructor'])).toBeUndefined();
  });
});

describe('a command that there is not', () => {
  it.each([
    ['job', /^signalbox: job needs the name of a command\n\n.*job plan FILE/s],
    ['jbo status', /^signalbox: there is no command "jbo"; did you mean job\?\n/],
    ['job statsu web', /^signalbox: there is no command "job statsu"; did you mean job status\?\n/],
    ['serv', /; did you mean serve\?/],
    ['-json job status', /^signalbox: options such as -json go after the command\n/],
  ])('%s is told what there is', async (given, message) => {
    const { code, error } = await typed('http://127.0.0.1:1', {}, ...given.split(' '));
    expect([code, error]).toEqual([2, expect.stringMatching(message)]);
  });
});

describe('an option of another command line', () => {
  const options = { detach: { type: 'flag', summary: 'do not wait' } } as const;
  const it1 = command({ usage: 'try [A]', summary: '', options, run: async () => 0 });

  it.each([
    ['-t={{.ID}}', /unknown option --t: use --json/],
    ['-verbose', /unknown option --verbose: use --json/],
    ['-region=eu', /name the server with --address/],
    ['-token=secret', /set SIGNALBOX_TOKEN/],
    ['-tls-skip-verify', /NODE_EXTRA_CA_CERTS/],
    ['-detahc', /did you mean --detach/],
    ['-toString', /unknown option --toString\n/],
  ])('%s is refused with what to do instead', (given, message) => {
    expect(() => readArguments(it1, [given])).toThrow(message);
  });
});
