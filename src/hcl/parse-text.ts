import { err, ok, type Result } from 'neverthrow';
import { type Diagnostic, diagnosticsFrom, type Problem } from './diagnostics/diagnostic.js';
import { type BudgetLimits, defaultBudgetLimits } from './evaluate/budget.js';
import { finish } from './steps.js';
import { parseBody, parseExpression } from './syntax/parse.js';
import type { SourceText } from './syntax/source.js';
import type { Body, Expression } from './syntax/tree.js';

interface ParseOptions {
  /** Name of the source in diagnostics. Default `job`. */
  readonly file?: string;
  /** Limits that are not given have the defaults of a budget. */
  readonly limits?: Partial<Pick<BudgetLimits, 'depth' | 'sourceLength' | 'sourceTokens'>>;
}

/** The syntax tree of a source in the native syntax, or all its syntax errors sorted by position. */
export function parseFile(text: string, options: ParseOptions = {}): Result<Body, Diagnostic[]> {
  const problems: Problem[] = [];
  const source: SourceText = { name: options.file ?? 'job', text };
  const body = finish(parseBody(source, { ...defaultBudgetLimits, ...options.limits }, problems));
  return problems.length > 0 ? err(diagnosticsFrom(problems)) : ok(body);
}

/** The syntax tree of a source that is one expression, or its syntax errors sorted by position. */
export function parseText(text: string, options: ParseOptions = {}): Result<Expression, Diagnostic[]> {
  const problems: Problem[] = [];
  const source: SourceText = { name: options.file ?? 'expression', text };
  const expression = parseExpression(source, { ...defaultBudgetLimits, ...options.limits }, problems);
  return expression === undefined || problems.length > 0 ? err(diagnosticsFrom(problems)) : ok(expression);
}
