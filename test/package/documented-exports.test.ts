import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it } from 'vitest';

/** What the package publishes for import: the entry points of the build, without the command line. */
const entries = (readFileSync('tools/build.mjs', 'utf8').match(/(?:src|adapters|test)\/[\w/-]+\.ts/g) ?? []).filter(
  (entry) => entry !== 'adapters/cli/main.ts',
);

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
  ts.sys,
  '.',
);

/** `ENTRY NAME` of every export of our own without a docstring. Declarations of one name, such as overloads, share theirs. */
function undocumented(program: ts.Program): string[] {
  const checker = program.getTypeChecker();
  return entries.flatMap((entry) => {
    const source = program.getSourceFile(entry);
    const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
    if (module === undefined) throw new Error(`${entry} exports nothing`);
    return checker.getExportsOfModule(module).flatMap((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const declarations = symbol.declarations ?? [];
      const isOurs = declarations.some((declaration) => !declaration.getSourceFile().fileName.includes('node_modules'));
      const isDocumented = declarations.some((declaration) => ts.getJSDocCommentsAndTags(declaration).length > 0);
      return isOurs && !isDocumented ? [`${entry} ${exported.name}`] : [];
    });
  });
}

it('has a docstring of every export of every entry point', () => {
  expect(entries.length).toBeGreaterThan(15);
  expect(undocumented(ts.createProgram(entries, options))).toEqual([]);
}, 180_000);
