import { err, ok, type Result } from 'neverthrow';
import { type Diagnostic, diagnosticsFrom, type Problem } from '../diagnostics/diagnostic.js';
import { type Budget, createBudget } from '../evaluate/budget.js';
import { type EvaluationContext, withNames } from '../evaluate/context.js';
import { evaluate } from '../evaluate/evaluate-expression.js';
import type { FunctionContext, HclFunction } from '../functions/function.js';
import { hclFunctions } from '../functions/index.js';
import { finish, interruption, type Steps } from '../steps.js';
import { parseLiteralBody } from '../syntax/literal-mode.js';
import type { SourceText } from '../syntax/source.js';
import { type Content, type ContentBlock, contentItems, labelCounts } from './content.js';
import { decodeBody } from './decode-body.js';
import { type Decoding, readerOf, withEvaluation } from './decode-value.js';
import { evaluateLocals } from './locals.js';
import type { BodySchema, DecodedBody, Report } from './schema.js';
import { readDeclarations } from './variable-declarations.js';
import { assignVariables, parseContent } from './variable-values.js';

/** How to decode a source, and the caller's interpretation of it. */
export interface DecodeOptions<Value> {
  /** The top level, apart from `variable`, `variables` and `locals`. */
  readonly schema: BodySchema;
  /** Builds the caller's value from a body without errors; may report further errors. */
  readonly interpret: (body: DecodedBody, report: Report) => Value;
  /** Variable values: `name = value` lines, or their JSON form. */
  readonly variables?: string;
  /** Further sources like `variables`, with their names in diagnostics; a later one takes precedence, and all of them over `variables`. */
  readonly variableFiles?: readonly VariableFile[];
  /** Single values by name; they take precedence over the sources of variable values. */
  readonly variableFlags?: Readonly<Record<string, string>>;
  /** Values of declared variables by name, as from the process environment; all other values take precedence. */
  readonly variableEnvironment?: Readonly<Record<string, string>>;
  /**
   * Whether a value for an undeclared variable is an error (true) or a warning (false). Default: an error in
   * `variableFlags`, a warning in the other sources.
   */
  readonly strictVariables?: boolean;
  /** Default: all functions of the language. */
  readonly functions?: ReadonlyMap<string, HclFunction>;
  /** New UUIDs, for the functions that need randomness. */
  readonly ids: FunctionContext['ids'];
  readonly budget?: Budget;
  /** Parses the source in the literal mode for version 1 of the language. */
  readonly hcl1?: boolean;
  /** Names of the sources in diagnostics. Default `job` and `variables`. */
  readonly names?: { readonly source: string; readonly variables: string };
}

/** A source of variable values. */
export interface VariableFile {
  readonly name: string;
  readonly text: string;
}

/** The interpreted value, with the warnings. */
export interface DecodedFile<Value> {
  readonly value: Value;
  readonly warnings: Diagnostic[];
}

/**
 * Parses, evaluates and decodes a whole source at once.
 *
 * @returns the interpreted value, or all errors and warnings sorted by source and position
 */
export function decodeFile<Value>(
  source: string,
  options: DecodeOptions<Value>,
): Result<DecodedFile<Value>, Diagnostic[]> {
  return finish(decodeFileInSteps(source, options));
}

/** The same in steps, for sources that may be large: each `next(true)` starts a turn with a full budget. */
export function* decodeFileInSteps<Value>(
  source: string,
  options: DecodeOptions<Value>,
): Steps<Result<DecodedFile<Value>, Diagnostic[]>> {
  const text: SourceText = { name: options.names?.source ?? 'job', text: source };
  const problems: Problem[] = [];
  const budget = options.budget ?? createBudget();
  const evaluation: EvaluationContext = {
    source: text,
    scope: { names: new Map(), outer: undefined },
    unknownNames: 'text',
    functions: options.functions ?? hclFunctions,
    ids: options.ids,
    budget,
    problems,
    evaluate,
  };
  const start: Decoding = { evaluation, legacy: options.hcl1 === true, dynamicAllowed: false };
  const decode = options.hcl1 === true ? decodeLegacy : decodeCurrent;
  const body = yield* decode(start, text, options);
  yield* interruption(budget);
  const value = body === undefined || hasErrors(problems) ? undefined : interpret(body, options, problems);
  if (value === undefined || hasErrors(problems)) return err(diagnosticsFrom(problems, text));
  return ok({ value: value.value, warnings: diagnosticsFrom(problems, text) });
}

function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

function* decodeCurrent<Value>(
  start: Decoding,
  source: SourceText,
  options: DecodeOptions<Value>,
): Steps<DecodedBody | undefined> {
  const { schema } = options;
  const content = yield* parseContent(source, start);
  if (content === undefined) return undefined;
  yield* interruption(start.evaluation.budget);
  const { declarations, locals, rest } = splitTopLevel(start, content, schema);
  const declared = yield* readDeclarations(start, declarations);
  const values = yield* assignVariables(start, declared, {
    environment: options.variableEnvironment ?? {},
    texts: variableTexts(options),
    flags: options.variableFlags ?? {},
    strict: options.strictVariables,
  });
  const withVariables = withEvaluation(start, withNames(start.evaluation, new Map([['var', values]])));
  // Otherwise an invalid variable would be reported again at each of its uses.
  if (hasErrors(start.evaluation.problems)) return undefined;
  const local = yield* evaluateLocals(withVariables, locals);
  if (hasErrors(start.evaluation.problems)) return undefined;
  const decoding = withEvaluation(start, withNames(withVariables.evaluation, new Map([['local', local]])));
  return yield* decodeBody(decoding, rest, schema);
}

/** In ascending order of precedence. */
function variableTexts<Value>({ variables = '', variableFiles = [], names }: DecodeOptions<Value>): SourceText[] {
  const own = variables === '' ? [] : [{ name: names?.variables ?? 'variables', text: variables }];
  return [...own, ...variableFiles];
}

/** Separates variables and locals from the content that the caller's schema describes. */
function splitTopLevel(
  decoding: Decoding,
  content: Content,
  schema: BodySchema,
): { declarations: readonly ContentBlock[]; locals: readonly ContentBlock[]; rest: Content } {
  const declarations: ContentBlock[] = [];
  const locals: ContentBlock[] = [];
  const own = (type: string): number | undefined =>
    type === 'variable' ? 1 : type === 'variables' || type === 'locals' ? 0 : undefined;
  if (content.kind === 'json-body') {
    const objects = content.objects.map((object) => ({
      ...object,
      members: object.members.filter(({ name }) => own(name) === undefined),
    }));
    const ours = content.objects.map((object) => ({
      ...object,
      members: object.members.filter(({ name }) => own(name) !== undefined),
    }));
    for (const item of contentItems(readerOf(decoding), { ...content, objects: ours }, own)) {
      if (item.kind === 'block') (item.type === 'locals' ? locals : declarations).push(item);
    }
    return { declarations, locals, rest: { ...content, objects } };
  }
  const counts = labelCounts(schema);
  const items = content.items.filter((item) => {
    if (item.kind !== 'block' || own(item.type) === undefined || counts(item.type) !== undefined) return true;
    (item.type === 'locals' ? locals : declarations).push(item);
    return false;
  });
  return { declarations, locals, rest: { ...content, items } };
}

/** Version 1 of the language has no variables, so values for them are probably a mistake. */
function* decodeLegacy<Value>(
  start: Decoding,
  source: SourceText,
  options: DecodeOptions<Value>,
): Steps<DecodedBody | undefined> {
  const { schema, variableFlags = {}, strictVariables = false, names } = options;
  const { problems, budget } = start.evaluation;
  const texts = variableTexts(options);
  if (texts.some(({ text }) => text.trim() !== '') || Object.keys(variableFlags).length > 0) {
    problems.push({
      code: 'variables_ignored',
      severity: strictVariables ? 'error' : 'warning',
      message: strictVariables
        ? 'Version 1 of the language has no variables: leave the values out.'
        : 'Version 1 of the language has no variables: the given values are ignored.',
      source: texts[0] ?? { name: names?.variables ?? 'variables', text: '' },
      span: { start: 0, end: 0 },
    });
  }
  const body = parseLiteralBody(source, budget.limits, problems);
  yield* interruption(budget);
  return hasErrors(problems) ? undefined : yield* decodeBody(start, body, schema);
}

function interpret<Value>(body: DecodedBody, options: DecodeOptions<Value>, problems: Problem[]): { value: Value } {
  const report: Report = ({ source, start, end }, { message, detail, suggestion, code, severity }) => {
    const span = { start, end };
    problems.push({ code: code ?? 'rule', severity: severity ?? 'error', message, detail, suggestion, source, span });
  };
  return { value: options.interpret(body, report) };
}
