import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { importedNames, sourceFiles } from '../support/source-imports.js';

/** What the build publishes: hosts use their exports. */
const entries: readonly string[] =
  readFileSync('tools/build.mjs', 'utf8').match(/(?:src|adapters)\/[\w/-]+\.ts/g) ?? [];

/** Types that the declarations of the package name, because the types of constants that hold them are inferred. */
const namedInDeclarations = [
  'adapters/cli/command-line/command.ts OptionDefinition',
  'src/api/call.ts NamespaceInputs',
  'src/api/call.ts ServerInputs',
  'src/api/calls/job-calls/reads.ts JobVersions',
  'src/api/calls/job-calls/reads.ts VersionRows',
  'src/api/calls/node-calls.ts NodeAllocation',
  'src/api/calls/scheduling-calls.ts AllocationRows',
  'src/api/calls/system-calls.ts Heard',
  'src/api/json-codecs.ts JsonMember',
];

/** `FILE NAME` of every export that a file declares or passes on. */
function exportsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  return source.statements.flatMap((statement) => exportedNames(statement).map((name) => `${file} ${name}`));
}

function exportedNames(statement: ts.Statement): string[] {
  if (ts.isExportDeclaration(statement)) {
    const clause = statement.exportClause;
    return clause !== undefined && ts.isNamedExports(clause) ? clause.elements.map(({ name }) => name.text) : [];
  }
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  const { name } = statement as ts.DeclarationStatement;
  return name === undefined ? [] : [name.getText()];
}

it('exports nothing that no other module imports', () => {
  const used = new Set(sourceFiles(['src', 'adapters', 'web', 'test', 'tools', 'examples']).flatMap(importedNames));
  const unused = sourceFiles(['src', 'adapters'])
    .filter((file) => !entries.includes(file))
    .flatMap(exportsOf)
    .filter((each) => !used.has(each) && !used.has(`${each.split(' ')[0]} *`));
  expect(unused.sort()).toEqual(namedInDeclarations);
  expect(entries.length).toBeGreaterThan(10);
}, 180_000);
