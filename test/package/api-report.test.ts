import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

/*
 * `npm run check:api` keeps the report equal to what is exported; these rules are about what it may say.
 */
const report = readFileSync('etc/signalbox.api.md', 'utf8').split('\n');

/** neverthrow's names, which are exported for code that implements a port. The texts are its own. */
const ofNeverthrow = ['Result', 'ResultAsync', 'err', 'errAsync', 'ok', 'okAsync'];

/** Types that public signatures use and that nobody can import: what names them is exported. */
const onlyWithin = [
  // `Client` is made of the table of calls, and `TransactionClient` of those that can be part of one.
  'Api',
  'ClientOf',
  'JoinedMethod',
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

/** What a host imports from one of the other entries. */
function exportsOfOtherEntries(): ReadonlySet<string> {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly types?: string }>>;
  };
  const types = Object.values(exports).flatMap((entry) => entry.types ?? []);
  const program = ts.createProgram(types, { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 });
  const checker = program.getTypeChecker();
  const others = types.filter((file) => file !== './dist/index.d.ts').map((file) => program.getSourceFile(file));
  const modules = others.map((file) => file && checker.getSymbolAtLocation(file));
  return new Set(
    modules.flatMap((module) => (module ? checker.getExportsOfModule(module) : [])).map(({ name }) => name),
  );
}

describe('the report of the public API', () => {
  it('has a docstring of every export', () => {
    const own = undocumentedExports(report).filter((name) => !ofNeverthrow.includes(name));
    expect(own).toEqual([]);
  });

  it('has every type that a signature names, or another entry has it; but for those that others are made of', () => {
    const others = exportsOfOtherEntries();
    expect(others.size).toBeGreaterThan(500);
    const forgotten = forgottenExports(report).filter((name) => !others.has(name));
    expect(forgotten.sort()).toEqual([...onlyWithin].sort());
  });

  it('is of at most 350 names', () => {
    expect(report.filter((line) => line.startsWith('export ')).length).toBeLessThanOrEqual(350);
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
    expect(report.filter((line) => line.startsWith('export ')).length).toBeGreaterThan(250);
    const warning =
      '// Warning: (ae-forgotten-export) The symbol "D" needs to be exported by the entry point index.d.ts';
    expect(forgottenExports(['export const e: D;', warning])).toEqual(['D']);
  });
});
