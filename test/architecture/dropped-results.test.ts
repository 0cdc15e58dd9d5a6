import ts from 'typescript';
import { expect, it } from 'vitest';
import { sourceFiles } from '../support/source-imports.js';

/** A statement whose value is a Result throws a failure away; so does `void` before one. */
function droppedResults(files: readonly string[]): string[] {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
  const program = ts.createProgram([...files], options);
  const checker = program.getTypeChecker();
  const found: string[] = [];
  const isResult = (type: ts.Type): boolean =>
    type.isUnion()
      ? type.types.some(isResult)
      : (type.getProperty('mapErr') !== undefined && type.getProperty('andThen') !== undefined) ||
        isPromiseOfResult(type);
  const isPromiseOfResult = (type: ts.Type): boolean => {
    const awaited = checker.getAwaitedType(type);
    return awaited !== undefined && awaited !== type && isResult(awaited);
  };
  for (const file of files) {
    const source = program.getSourceFile(file);
    if (source === undefined) continue;
    const visit = (node: ts.Node): void => {
      if (ts.isExpressionStatement(node)) {
        const value = ts.isVoidExpression(node.expression) ? node.expression.expression : node.expression;
        if (!ts.isBinaryExpression(value) && isResult(checker.getTypeAtLocation(value))) {
          const { line } = source.getLineAndCharacterOfPosition(node.getStart());
          found.push(`${file}:${line + 1} ${node.getText().split('\n')[0]}`);
        }
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

it('drops no Result', () => {
  expect(droppedResults(sourceFiles(['src', 'adapters']))).toEqual([]);
}, 180_000);
