import { describe, expect, it } from 'vitest';
import { command, commandHelp, generalHelp } from '../../../../adapters/cli/command-line/command.js';
import { optionsOf, readArguments } from '../../../../adapters/cli/command-line/read-arguments.js';
import { commands } from '../../../../adapters/cli/commands/index.js';
import { serveUsage, settingsUsage } from '../../../../adapters/cli/serve/serve-options.js';
import { settingTable } from '../../../../adapters/cli/settings/setting-table.js';

const options = {
  i: { type: 'flag', summary: 'input' },
  t: { type: 'flag', summary: 'terminal' },
  n: { type: 'text', value: 'N', summary: 'number' },
  detach: { type: 'flag', summary: 'do not wait' },
  meta: { type: 'list', value: 'KEY=VALUE', summary: 'meta' },
} as const;

const plain = command({ usage: 'try [A] [B]', summary: '', options, run: async () => 0 });
const first = command({
  usage: 'try A [WORDS...]',
  summary: '',
  optionsFirst: true,
  options,
  run: async () => 0,
});

describe('options', () => {
  it.each([
    [['-i', '-t'], { i: true, t: true }],
    [['-it'], { i: true, t: true }],
    [['-detach'], { detach: true }],
    [['--detach'], { detach: true }],
    [['-detach=true'], { detach: true }],
    [['--detach=false'], { detach: false }],
    [['-n=7'], { n: '7' }],
    [['-n', '7', '-meta', 'a=b', '--meta=c=d'], { n: '7', meta: ['a=b', 'c=d'] }],
  ])('%j are %j', (args, wanted) => {
    expect(readArguments(plain, args).options).toMatchObject(wanted);
  });

  it.each([
    [['--it'], /unknown option --it/],
    [['-in'], /unknown option --in/],
    [['-detach=maybe'], /detach/],
    [['-n'], /n/],
  ])('%j cannot be meant', (args, message) => {
    expect(() => readArguments(plain, args)).toThrow(message);
  });

  it('end at the first parameter where what follows is the words of somebody else', () => {
    expect(readArguments(first, ['-it', 'a', 'ls', '-it', '--detach=false'])).toMatchObject({
      parameters: ['a', 'ls', '-it', '--detach=false'],
      options: { i: true, t: true, detach: false },
    });
  });
});

describe('the help', () => {
  it('fits on a screen of a hundred columns', () => {
    for (const line of generalHelp(commands).split('\n')) expect(line.length).toBeLessThanOrEqual(120);
  });

  it.each(commands.map((each) => [each.words, each] as const))('of %s names every option', (_words, each) => {
    const text = commandHelp(each, optionsOf(each));
    for (const name of Object.keys(optionsOf(each))) expect(text).toMatch(new RegExp(`^ {2}--${name}( |$)`, 'm'));
    expect(each.summary).not.toMatch(/\.$/);
  });

  it.each(
    commands.flatMap((each) =>
      Object.entries(optionsOf(each)).flatMap(([name, { choices }]) =>
        choices === undefined ? [] : [[each.words, name, choices, each] as const],
      ),
    ),
  )('of %s lists the choices of --%s, and others are refused', (_words, name, choices, each) => {
    const line = new RegExp(`^ {2}--${name} .*`, 'm').exec(commandHelp(each, optionsOf(each)))?.[0] ?? '';
    for (const choice of choices) expect(line).toContain(choice);
    const needed = each.parameters.split(' ').filter((word) => word !== '' && !word.startsWith('['));
    const given = (value: string) => [`--${name}=${value}`, ...needed.map(() => 'x')];
    for (const choice of choices) expect(() => readArguments(each, given(choice))).not.toThrow();
    expect(() => readArguments(each, given('neither'))).toThrow(new RegExp(`--${name} takes .*, not "neither"`));
  });

  it('of a server lists the choices of its settings', () => {
    expect(serveUsage).toMatch(/--names VALUE +.*: neutral or upstream$/m);
    expect(serveUsage).toMatch(/--access VALUE +.*: token or open$/m);
    for (const { kind } of settingTable) {
      for (const choice of kind.choices ?? []) expect(settingsUsage).toContain(choice);
    }
  });

  it('knows no two commands of the same words', () => {
    const words = commands.map((each) => each.words);
    expect(new Set(words).size).toBe(words.length);
  });
});
