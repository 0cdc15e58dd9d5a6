import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/*
 * `npm run check:api` keeps the report equal to what is exported; these rules are about what it may say.
 */
const report = readFileSync('etc/signalbox.api.md', 'utf8').split('\n');

/** neverthrow's names, which are exported for code that implements a port. The texts are its own. */
const ofNeverthrow = ['Result', 'ResultAsync', 'err', 'errAsync', 'ok', 'okAsync'];

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

describe('the report of the public API', () => {
  it('has a docstring of every export', () => {
    const own = undocumentedExports(report).filter((name) => !ofNeverthrow.includes(name));
    expect(own).toEqual([]);
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
  });
});
