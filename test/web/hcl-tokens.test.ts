import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atStart, depthOf, type HclState, nextToken, piecesOf } from '../../web/rules/hcl-tokens.js';

/** The pieces that have a kind, as `kind:text`. */
const kinds = (source: string): readonly string[] =>
  piecesOf(source).flatMap(({ kind, text }) => (kind === undefined ? [] : [`${kind}:${text}`]));

function stateAfter(source: string): HclState {
  let state = atStart;
  for (const line of source.split('\n'))
    for (let at = 0; at < line.length; ) {
      const token = nextToken(line, at, state);
      state = token.state;
      at = token.end;
    }
  return state;
}

describe('the tokens of HCL', () => {
  it.each<readonly [source: string, ...expected: string[]]>([
    ['# note', 'comment:# note'],
    ['// note', 'comment:// note'],
    ['a /* b */ c', 'comment:/* b */'],
    ['/* a\nb */ c', 'comment:/* a', 'comment:b */'],
    ['job "web" {', 'block:job', 'string:"web"', 'bracket:{'],
    ['update {}', 'block:update', 'bracket:{}'],
    ['dynamic "port" label {', 'block:dynamic', 'string:"port"', 'bracket:{'],
    ['count = 2', 'attribute:count', 'operator:=', 'number:2'],
    ['a == b', 'operator:=='],
    ['load = 1.5e-3', 'attribute:load', 'operator:=', 'number:1.5e-3'],
    ['on = true', 'attribute:on', 'operator:=', 'literal:true'],
    ['x = max(1, var.count)', 'attribute:x', 'operator:=', 'call:max', 'bracket:(', 'number:1', 'bracket:)'],
    [
      'env = { A = "b" }',
      'attribute:env',
      'operator:=',
      'bracket:{',
      'attribute:A',
      'operator:=',
      'string:"b"',
      'bracket:}',
    ],
    ['"a ${b} c"', 'string:"a ', 'bracket:${', 'bracket:}', 'string: c"'],
    ['"a $${b} \\" c"', 'string:"a $${b} \\" c"'],
    [
      '"${f({ a = "}" })}"',
      'string:"',
      'bracket:${',
      'call:f',
      'bracket:({',
      'operator:=',
      'string:"}"',
      'bracket:})}',
      'string:"',
    ],
    ['"no end\ncount = 1', 'string:"no end', 'attribute:count', 'operator:=', 'number:1'],
    [
      'x = <<EOF\nit ${a} "is\nEOF\ny = 1',
      'attribute:x',
      'operator:=',
      'string:<<EOF',
      'string:it ',
      'bracket:${',
      'bracket:}',
      'string: "is',
      'string:EOF',
      'attribute:y',
      'operator:=',
      'number:1',
    ],
    [
      'x = <<-E_1\n  E_1\ny = 1',
      'attribute:x',
      'operator:=',
      'string:<<-E_1',
      'string:  E_1',
      'attribute:y',
      'operator:=',
      'number:1',
    ],
    [
      '{"a": [1, null]}',
      'bracket:{',
      'string:"a"',
      'operator::',
      'bracket:[',
      'number:1',
      'literal:null',
      'bracket:]}',
    ],
  ])('of %j', (source, ...expected) => {
    expect(kinds(source)).toEqual(expected);
  });

  it('are the source, whatever it is', () => {
    const pieces = fc.constantFrom(
      '"',
      '${',
      '}',
      '{',
      '/*',
      '*/',
      '<<E',
      'E',
      '\n',
      '\\',
      '$',
      '%',
      '#',
      ' ',
      'a',
      '1',
      '=',
      '\r',
      '🎉',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces).map((all) => all.join('')),
        ),
        (source) => {
          expect(
            piecesOf(source)
              .map(({ text }) => text)
              .join(''),
          ).toBe(source);
        },
      ),
    );
  });

  it.each<readonly [name: string, source: string]>([
    ['brackets', '['.repeat(200_000)],
    ['one word', `${'a'.repeat(200_000)}!`],
    ['words', `${'a '.repeat(100_000)}!`],
    ['quotes', '"" '.repeat(60_000)],
    ['interpolations', '"${'.repeat(60_000)],
    ['comment marks', '/*'.repeat(100_000)],
  ])('of a long line of %s are read in time proportional to its length', (_, source) => {
    const since = performance.now();
    piecesOf(source);
    expect(performance.now() - since).toBeLessThan(5000);
  });

  it.each<readonly [source: string, depth: number | undefined]>([
    ['', 0],
    ['job "a" {\n  group "b" {', 2],
    ['job "a" {\n}', 0],
    ['a = [\n  f(', 2],
    ['}', 0],
    ['a = <<EOF\n', undefined],
    ['/* a', undefined],
  ])('the code after %j is %j levels deep', (source, depth) => {
    expect(depthOf(stateAfter(source))).toBe(depth);
  });
});
