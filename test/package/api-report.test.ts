import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/*
 * `npm run check:api` keeps the report equal to what is exported; these rules are about what it may say.
 */
const report = readFileSync('etc/signalbox.api.md', 'utf8').split('\n');

/** neverthrow's names, which are exported for code that implements a port. The texts are its own. */
const ofNeverthrow = ['Result', 'ResultAsync', 'err', 'errAsync', 'ok', 'okAsync'];

/** Types that public signatures use and that nobody can import: what names them is exported. */
const onlyWithin = [
  // `Client` is made of the table of calls, `TransactionClient` of those that can be part of one, and `SubmittedJob` of the table of fields.
  'Api',
  'ClientOf',
  'JoinedMethod',
  'Submitted',
  'jobBlock',
  'joining',
];

/** Names of the exports whose comment says that there is no docstring. */
function undocumentedExports(lines: readonly string[]): string[] {
  return lines.flatMap((line, at) => {
    const name = /^export (?:declare )?(?:abstract )?(?:class|const|enum|function|interface|namespace|type) (\w+)/.exec(
      line,
    )?.[1];
    if (name === undefined) return [];
    const begin = lines.slice(0, at).findLastIndex((before) => !before.startsWith('//')) + 1;
    return lines.slice(begin, at).some((comment) => comment.includes('(undocumented)')) ? [name] : [];
  });
}

/** Names that the report warns of because signatures use them and the entry point does not export them. */
function forgottenExports(lines: readonly string[]): string[] {
  return lines.flatMap((line) => /\(ae-forgotten-export\) The symbol "(\w+)"/.exec(line)?.[1] ?? []);
}

describe('the report of the public API', () => {
  it('has a docstring of every export', () => {
    const own = undocumentedExports(report).filter((name) => !ofNeverthrow.includes(name));
    expect(own).toEqual([]);
  });

  it('has every type that a signature names, but for those that others are made of', () => {
    expect(forgottenExports(report).sort()).toEqual([...onlyWithin].sort());
  });

  it('is read as it is written', () => {
    const lines = [
      '// @public (undocumented)',
      'export interface A {',
      '    // (undocumented)',
      '    b: string;',
      '}',
      '',
    ];
    expect(undocumentedExports([...lines, '// @public', 'export type C = A;'])).toEqual(['A']);
    expect(report.filter((line) => line.startsWith('export ')).length).toBeGreaterThan(500);
    const warning =
      '// Warning: (ae-forgotten-export) The symbol "D" needs to be exported by the entry point index.d.ts';
    expect(forgottenExports(['export const e: D;', warning])).toEqual(['D']);
  });
});
