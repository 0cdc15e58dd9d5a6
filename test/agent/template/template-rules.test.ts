import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  KnownVariables,
  parseEnvironment,
  renderTemplates,
  templateChange,
} from '../../../src/agent/template/render-templates.js';
import { parseTemplate } from '../../../src/templates/index.js';

describe('the environment of a template', () => {
  it.each([
    ['A=b', { A: 'b' }],
    ['  export A = b c  ', { A: 'b c' }],
    ['\n# note\nA=1\r\nB=2', { A: '1', B: '2' }],
    ['A=', { A: '' }],
    ['A=b # note', { A: 'b' }],
    ['A=# note', { A: '' }],
    ['A=b#c=d', { A: 'b#c=d' }],
    ['A=password#1!\t# note', { A: 'password#1!' }],
    [`A='single "quoted" # $x \\n'`, { A: 'single "quoted" # $x \\n' }],
    ['A="a\\tb\\u0041 #"', { A: 'a\tbA #' }],
    [`A=pre"mid"'post' # note`, { A: 'premidpost' }],
    ['A=1\nA=2', { A: '2' }],
    ['db.user-name=x', { 'db.user-name': 'x' }],
  ])('%j', (text, expected) => {
    expect(parseEnvironment(text)._unsafeUnwrap()).toEqual(expected);
  });

  it.each(['A', '=b', '1A=b', 'A B=c', 'A="open', "A='open", 'A="\\q"', 'A=a\0b', 'Ä=b'])('refuses %j', (text) => {
    expect(parseEnvironment(`B=1\n${text}`)._unsafeUnwrapErr().line).toBe(2);
  });

  it('never throws, and reads back what is written as JSON', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof parseEnvironment(text).isOk() === 'boolean'));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        fc.pre(!value.includes('\0'));
        expect(parseEnvironment(`A=${JSON.stringify(value)}`)._unsafeUnwrap()).toEqual({ A: value });
      }),
    );
  });
});

describe('a change of templates', () => {
  const script = { Command: '/x', Args: null, Timeout: 0, FailOnError: false, RunOnFirstRender: false };
  const of = (ChangeMode: string, ChangeSignal = '', seconds = 0) => ({
    ChangeMode,
    ChangeSignal,
    ChangeScript: ChangeMode === 'script' ? script : null,
    Splay: seconds * 1e9,
  });
  it.each([
    ['nothing', [], { restart: false, signals: [], scripts: [], splay: 0 }],
    ['noop, whose splay means nothing', [of('noop', '', 9)], { restart: false, signals: [], scripts: [], splay: 0 }],
    [
      'signals, each once',
      [of('signal', 'hup', 1), of('signal', 'SIGHUP', 3), of('signal', 'usr1')],
      { restart: false, signals: ['SIGHUP', 'SIGUSR1'], scripts: [], splay: 3000 },
    ],
    [
      'a script and a signal',
      [of('script'), of('signal', 'HUP')],
      { restart: false, signals: ['SIGHUP'], scripts: [script], splay: 0 },
    ],
    [
      'a restart instead of all else',
      [of('script'), of('signal', 'HUP'), of('restart')],
      { restart: true, signals: [], scripts: [], splay: 0 },
    ],
  ])('asks for %s', (_what, changed, expected) => {
    expect(templateChange(changed)).toEqual(expected);
  });
});

describe('rendering the templates of a task', () => {
  const surroundings = { env: {}, meta: {} };
  const read = (source: string) => [{ at: 0, template: parseTemplate(source)._unsafeUnwrap(), failsWithoutKey: false }];
  const render = (source: string, known: KnownVariables) => renderTemplates(read(source), known, surroundings);
  const answer = (items: (Record<string, string> | null)[]) => ({ version: 'v', items, lists: [] });

  it('asks for what it does not know, waits for what is missing, then renders', () => {
    const known = new KnownVariables();
    const source = '{{ (nomadVar "a").x | parseJSON | len }}';
    expect(render(source, known)._unsafeUnwrap()).toEqual({ type: 'unknown' });
    expect(known.questions).toEqual({ variables: [{ path: 'a' }], prefixes: [] });
    known.learn(answer([null]));
    expect(render(source, known)._unsafeUnwrap()).toEqual({ type: 'missing', missing: [{ path: 'a' }] });
    known.learn(answer([{ x: '[1, 2]' }]));
    expect(render(source, known)._unsafeUnwrap()).toEqual({ type: 'rendered', rendered: [{ at: 0, text: '2' }] });
    known.learn(answer([{ x: '[' }]));
    expect(render(source, known)._unsafeUnwrapErr()).toMatchObject({ at: 0, fault: { line: 1 } });
  });

  it('asks again when what it learns makes it ask for more', () => {
    const known = new KnownVariables();
    const source = '{{ range nomadVarList "a" }}{{ (nomadVar .Path).x }}{{ end }}';
    expect(render(source, known)._unsafeUnwrap().type).toBe('unknown');
    known.learn({ version: 'v', items: [], lists: [[{ path: 'a/1', namespace: 'default' }]] });
    expect(render(source, known)._unsafeUnwrap().type).toBe('unknown');
    known.learn({ version: 'w', items: [{ x: 'y' }], lists: [[{ path: 'a/1', namespace: 'default' }]] });
    expect(render(source, known)._unsafeUnwrap()).toMatchObject({ rendered: [{ text: 'y' }] });
  });
});
