import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import ts from 'typescript';

export interface ModuleImport {
  /** Path from the project's root. */
  readonly file: string;
  readonly line: number;
  readonly specifier: string;
  /** The imported file of the project; undefined for packages and built-in modules. */
  readonly target: string | undefined;
  readonly typeOnly: boolean;
}

/** All TypeScript files below the folders, sorted. */
export function sourceFiles(folders: readonly string[]): string[] {
  return folders.flatMap((folder) => walk(folder)).sort();
}

/** Every import and re-export of a file, including type imports and dynamic imports. */
export function importsOf(file: string): ModuleImport[] {
  const text = readFileSync(file, 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022);
  // All others stand at the top of the file or of a module that is declared in it.
  const hasCalls = /\bimport\s*\(/.test(text);
  const found: ModuleImport[] = [];
  const add = (node: ts.Node, specifier: string, typeOnly: boolean): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
    found.push({ file, line: line + 1, specifier, target: targetOf(file, specifier), typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
      add(node, node.moduleSpecifier.text, isTypeOnly(node.importClause));
    } else if (
      ts.isExportDeclaration(node) &&
      node.moduleSpecifier !== undefined &&
      ts.isStringLiteral(node.moduleSpecifier)
    ) {
      add(node, node.moduleSpecifier.text, node.isTypeOnly);
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [argument] = node.arguments;
      if (argument !== undefined && ts.isStringLiteral(argument)) add(node, argument.text, false);
    } else if (
      ts.isImportTypeNode(node) &&
      ts.isLiteralTypeNode(node.argument) &&
      ts.isStringLiteral(node.argument.literal)
    ) {
      add(node, node.argument.literal.text, true);
    }
    if (hasCalls || ts.isModuleDeclaration(node) || ts.isModuleBlock(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return found;
}

/** `TARGET NAME` for every name that a file imports or re-exports from another file of the project; `TARGET *` for all names. */
export function importedNames(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ES2022, true);
  const found: string[] = [];
  const add = (specifier: ts.Node | undefined, names: readonly string[]): void => {
    const target =
      specifier !== undefined && ts.isStringLiteral(specifier) ? targetOf(file, specifier.text) : undefined;
    if (target !== undefined) found.push(...names.map((name) => `${target} ${name}`));
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, namesOf(node.importClause?.namedBindings));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, namesOf(node.exportClause));
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], ['*']);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, [node.qualifier?.getText() ?? '*']);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function namesOf(bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): string[] {
  if (bindings === undefined || ts.isNamespaceImport(bindings) || ts.isNamespaceExport(bindings)) return ['*'];
  const elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[] = bindings.elements;
  return elements.map(({ propertyName, name }) => (propertyName ?? name).text);
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  return (
    clause.name === undefined &&
    bindings !== undefined &&
    ts.isNamedImports(bindings) &&
    bindings.elements.every((element) => element.isTypeOnly)
  );
}

function targetOf(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined;
  const path = normalize(join(dirname(file), specifier));
  return [path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx'), path].find(existsSync) ?? path;
}

/** Skips folders that begin with a dot, which concurrent tests create and remove, and packages. */
function walk(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return walk(path);
    return /\.tsx?$/.test(entry.name) ? [path] : [];
  });
}
