import type { Problem } from '../diagnostics/diagnostic.js';
import { suggestName } from '../diagnostics/suggest.js';
import { evaluateCondition } from '../evaluate/collections.js';
import { paidFor, withNames } from '../evaluate/context.js';
import type { Steps } from '../steps.js';
import { parseBody, parseExpression } from '../syntax/parse.js';
import { parseJson } from '../syntax/parse-json.js';
import type { SourceText } from '../syntax/source.js';
import type { Span } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { type HclType, type HclValue, objectValue, stringValue } from '../values/value.js';
import { conversionWork } from '../values/work.js';
import { type Content, contentItems } from './content.js';
import { type Decoding, decodingProblem, nextItem, readerOf, withEvaluation } from './decode-value.js';
import { constantsOnly, type VariableDeclaration } from './variable-declarations.js';

interface GivenValue {
  readonly value: HclValue;
  readonly source: SourceText;
  readonly span: Span;
}

/** The sources of variable values, in ascending order of precedence. */
interface VariableInputs {
  /** Only values of declared variables count. */
  readonly environment: Readonly<Record<string, string>>;
  readonly texts: readonly SourceText[];
  readonly flags: Readonly<Record<string, string>>;
  /** Whether undeclared names are errors; undefined: in flags, but not in the other sources. */
  readonly strict: boolean | undefined;
}

/**
 * The object `var`: default, then environment, then variable sources, then flags, each converted to the declared type and then validated. A variable
 * that is never set is an error, even if nothing uses it.
 */
export function* assignVariables(
  decoding: Decoding,
  declarations: ReadonlyMap<string, VariableDeclaration>,
  inputs: VariableInputs,
): Steps<HclValue> {
  const { problems } = decoding.evaluation;
  const before = problems.length;
  const given = new Map<string, GivenValue>();
  const { environment, strict } = inputs;
  const declared = [...declarations.keys()].filter((name) => Object.hasOwn(environment, name));
  const inherited = declared.map((name): [string, string] => [name, environment[name] ?? '']);
  readFlags(decoding, declarations, { values: Object.fromEntries(inherited), strict: true }, given);
  for (const text of inputs.texts) {
    const inText = yield* readVariableText(decoding, declarations, { source: text, strict: strict ?? false });
    for (const [name, value] of inText) given.set(name, value);
  }
  readFlags(decoding, declarations, { values: inputs.flags, strict: strict ?? true }, given);
  // A value that could not be read is not also reported as missing.
  const readable = !problems.slice(before).some(({ severity }) => severity === 'error');
  const values = new Map<string, HclValue>();
  for (const [name, declaration] of declarations) {
    if (!(yield* nextItem(decoding, declaration.nameSpan))) break;
    const assigned = assign(decoding, declaration, given.get(name), readable);
    if (assigned === undefined) continue;
    values.set(name, assigned.value);
    if (!declaration.broken) validate(decoding, declaration, assigned);
  }
  return objectValue(values);
}

/** A source is JSON if its first non-space character is a brace. */
export function* parseContent(source: SourceText, decoding: Decoding): Steps<Content | undefined> {
  const { budget, problems } = decoding.evaluation;
  if (!/^\ufeff? *\{/.test(source.text)) {
    const before = problems.length;
    const body = yield* parseBody(source, budget.limits, problems);
    return problems.length > before ? undefined : body;
  }
  const json = parseJson(source, budget.limits, problems);
  if (json === undefined) return undefined;
  const { start, end } = json;
  if (json.kind === 'json-object') return { kind: 'json-body', objects: [json], start, end };
  problems.push({
    code: 'bad_json',
    severity: 'error',
    message: 'Variable values must be a JSON object.',
    source,
    span: { start, end },
  });
  return undefined;
}

function* readVariableText(
  decoding: Decoding,
  declarations: ReadonlyMap<string, VariableDeclaration>,
  { source, strict }: { readonly source: SourceText; readonly strict: boolean },
): Steps<Map<string, GivenValue>> {
  const given = new Map<string, GivenValue>();
  const own = constantsOnly(withEvaluation(decoding, { ...decoding.evaluation, source }));
  const content = yield* parseContent(source, own);
  if (content === undefined) return given;
  for (const item of contentItems(readerOf(own), content, () => undefined)) {
    if (!(yield* nextItem(own, item))) break;
    if (item.kind === 'block') {
      const declares = item.type === 'variable' || item.type === 'variables';
      const detail = declares
        ? 'Variables are declared in the file that uses them; here they get values: name = value.'
        : undefined;
      decodingProblem(own, 'bad_variable', item.typeSpan, {
        message: `A "${item.type.slice(0, 60)}" block is not allowed among variable values.`,
        detail,
      });
      continue;
    }
    const value = own.evaluation.evaluate(own.evaluation, item.value);
    if (!declarations.has(item.name)) undeclared(own, { span: item.nameSpan, name: item.name, strict }, declarations);
    else if (value !== undefined) given.set(item.name, { value, source, span: item.value });
  }
  return given;
}

function undeclared(
  decoding: Decoding,
  { span, name, strict }: { span: Span; name: string; strict: boolean },
  declarations: ReadonlyMap<string, VariableDeclaration>,
): void {
  const { problems, source } = decoding.evaluation;
  const problem: Problem = {
    code: 'undeclared_variable',
    severity: strict ? 'error' : 'warning',
    message: `The variable "${name.slice(0, 60)}" is not declared${strict ? '.' : ': its value is ignored.'}`,
    suggestion: () => suggestName(name, declarations.keys()),
    source,
    span: { start: span.start, end: span.end },
  };
  problems.push(problem);
}

/** Flags are strings: used literally for string variables, parsed as an expression for other types. */
function readFlags(
  decoding: Decoding,
  declarations: ReadonlyMap<string, VariableDeclaration>,
  { values, strict }: { readonly values: Readonly<Record<string, string>>; readonly strict: boolean },
  given: Map<string, GivenValue>,
): void {
  for (const [name, text] of Object.entries(values)) {
    const source: SourceText = { name: `variable ${name}`, text };
    const own = constantsOnly(withEvaluation(decoding, { ...decoding.evaluation, source }));
    const span = { start: 0, end: text.length };
    const declaration = declarations.get(name);
    if (declaration === undefined) undeclared(own, { span, name, strict }, declarations);
    else if (isLiteral(declaration.type)) given.set(name, { value: stringValue(text), source, span });
    else {
      const { budget, problems } = decoding.evaluation;
      const expression = parseExpression(source, budget.limits, problems);
      const value = expression === undefined ? undefined : own.evaluation.evaluate(own.evaluation, expression);
      if (value !== undefined) given.set(name, { value, source, span });
    }
  }
}

function isLiteral(type: HclType | undefined): boolean {
  return type === undefined || type.kind === 'string' || type.kind === 'number' || type.kind === 'dynamic';
}

function assign(
  decoding: Decoding,
  declaration: VariableDeclaration,
  given: GivenValue | undefined,
  mustBeSet: boolean,
): GivenValue | undefined {
  const { defaultValue, type, broken, name, nameSpan } = declaration;
  if (given === undefined) {
    if (defaultValue !== undefined) return { ...defaultValue, source: decoding.evaluation.source };
    if (broken || !mustBeSet) return undefined;
    return decodingProblem(decoding, 'variable_not_set', nameSpan, {
      message: `The variable "${name.slice(0, 60)}" has no value.`,
      detail: 'It has no default, so every use of this file must set it.',
    });
  }
  if (type !== undefined && !paidFor(decoding.evaluation, nameSpan, conversionWork(given.value))) return undefined;
  const converted = type === undefined ? undefined : convert(given.value, type);
  if (converted === undefined) return given;
  if (converted.isOk()) return { ...given, value: converted.value };
  const own = withEvaluation(decoding, { ...decoding.evaluation, source: given.source });
  const message = `The value of the variable "${name.slice(0, 60)}" does not have its type: ${converted.error.message}.`;
  return decodingProblem(own, 'bad_variable', given.span, message);
}

function validate(decoding: Decoding, declaration: VariableDeclaration, assigned: GivenValue): void {
  const { evaluation } = decoding;
  const own = objectValue([[declaration.name, assigned.value]]);
  const inner = { ...withNames(evaluation, new Map([['var', own]])), unknownNames: 'error' as const };
  for (const { condition, message } of declaration.validations) {
    const holds = evaluateCondition(inner, condition);
    if (holds !== false) continue;
    const inItsSource = withEvaluation(decoding, { ...evaluation, source: assigned.source });
    decodingProblem(
      inItsSource,
      'validation_failed',
      assigned.span,
      `Invalid value for variable "${declaration.name.slice(0, 60)}": ${message}`,
    );
  }
}
