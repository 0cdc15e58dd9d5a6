import { err, ok, type Result } from 'neverthrow';
import { lowerFirst, quoted } from '../../shared/values.js';
import type { DiagnosticCode } from '../diagnostics/codes.js';
import type { ProblemText } from '../diagnostics/diagnostic.js';
import { type EvaluationContext, paidFor, problem } from '../evaluate/context.js';
import { interruption, type Steps } from '../steps.js';
import type { Span } from '../syntax/tree.js';
import { convert } from '../values/convert.js';
import { compareNumbers, isWhole, toDouble } from '../values/number.js';
import { toPlain } from '../values/plain.js';
import { typeText } from '../values/render.js';
import { boolType, entriesOf, type HclValue, itemsOf, numberType, stringType } from '../values/value.js';
import type { ContentReader } from './content.js';
import { parseDuration } from './duration.js';
import type { AttributeKind, PlainValue, SourceRange } from './schema.js';

/** An evaluation, and the mode in which the source is read. */
export interface Decoding {
  readonly evaluation: EvaluationContext;
  /** Whether the source is version 1: weak conversion, and a block is equivalent to an object attribute. */
  readonly legacy: boolean;
  readonly dynamicAllowed: boolean;
}

export function withEvaluation(decoding: Decoding, evaluation: EvaluationContext): Decoding {
  return { ...decoding, evaluation };
}

export function readerOf({ evaluation }: Decoding): ContentReader {
  const { source, problems, budget, unknownNames } = evaluation;
  return { source, problems, budget, limits: budget.limits, plainStrings: unknownNames === 'forbidden' };
}

export function rangeOf({ evaluation }: Decoding, span: Span): SourceRange {
  return { source: evaluation.source, start: span.start, end: span.end };
}

/** Units of work for an attribute or a block, in addition to its value. */
export const ITEM = 8;

/**
 * Charges one item of a body. The work can be interrupted between two items.
 *
 * @returns false if the budget is spent, which is then reported
 */
export function* nextItem({ evaluation }: Decoding, span: Span): Steps<boolean> {
  const { budget } = evaluation;
  if (budget.turnIsLong) yield* interruption(budget);
  return paidFor(evaluation, span, ITEM);
}

export function decodingProblem(decoding: Decoding, code: DiagnosticCode, span: Span, text: ProblemText): undefined {
  return problem(decoding.evaluation, code, span, text);
}

/** The empty span where a body opens: the position of problems about missing items. */
export function openingOf(span: Span): Span {
  return { start: span.start, end: span.start };
}

export function ruleFor<Rule>(rules: Readonly<Record<string, Rule>> | undefined, name: string): Rule | undefined {
  return rules !== undefined && Object.hasOwn(rules, name) ? rules[name] : undefined;
}

interface ValueError {
  readonly code: DiagnosticCode;
  /** A complete sentence. */
  readonly message: string;
}

type Decoded<Value extends PlainValue = PlainValue> = Result<Value, ValueError>;

/**
 * An attribute's value as plain data of the kind in the schema.
 *
 * @param weak also converts between numbers and bools, as version 1 sources need
 */
export function decodeValue(value: HclValue, kind: AttributeKind, weak: boolean): Decoded {
  if (typeof kind === 'object') {
    if ('convert' in kind) return kind.convert(value).mapErr((message) => ({ code: 'bad_value', message }));
    if ('integer' in kind) return toInteger(value, weak, kind.integer);
    return toList(value, 'whole numbers', (item) => toInteger(item, weak, kind.integerList));
  }
  switch (kind) {
    case 'string':
      return toText(value);
    case 'integer':
      return toInteger(value, weak);
    case 'number':
      return toNumber(value, weak);
    case 'bool':
      return toBool(value, weak);
    case 'duration':
      return toDuration(value);
    case 'stringList':
      return toTextList(value, weak);
    case 'integerList':
      return toList(value, 'whole numbers', (item) => toInteger(item, weak));
    case 'stringMap':
      return toMap(value, 'a map of strings', toText);
    case 'stringListMap':
      return toMap(value, 'a map of lists of strings', (item) => toTextList(item, weak));
    case 'any':
      return toData(value);
  }
}

/** Any value as plain data. */
export function toData(value: HclValue): Decoded {
  return toPlain(value).mapErr(() => ({
    code: 'bad_value' as const,
    message: 'An infinite number cannot be part of the result.',
  }));
}

function toText(value: HclValue): Decoded<string> {
  if (value.kind === 'string') return ok(value.value);
  const text = value.kind === 'null' ? undefined : convert(value, stringType).unwrapOr(undefined);
  return text?.kind === 'string' ? ok(text.value) : wrongKind('a string', value);
}

function toInteger(value: HclValue, weak: boolean, range?: readonly [number, number]): Decoded<number> {
  const number = asNumber(value, weak);
  if (number === undefined) return wrongKind('a whole number', value);
  if (!isWhole(number)) return err({ code: 'bad_value', message: 'A whole number is required, without a fraction.' });
  const [lowest, highest] = range ?? [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
  if (compareNumbers(number, lowest) < 0 || compareNumbers(number, highest) > 0) {
    return err({ code: 'out_of_range', message: `The number must be between ${lowest} and ${highest}.` });
  }
  return ok(toDouble(number) + 0);
}

function toNumber(value: HclValue, weak: boolean): Decoded<number> {
  const number = asNumber(value, weak);
  if (number === undefined) return wrongKind('a number', value);
  const double = toDouble(number);
  if (Number.isFinite(double)) return ok(double);
  return err({ code: 'out_of_range', message: 'The number is too large.' });
}

function asNumber(value: HclValue, weak: boolean): (HclValue & { kind: 'number' })['value'] | undefined {
  if (value.kind === 'number') return value.value;
  if (weak && value.kind === 'bool') return value.value ? 1 : 0;
  const number = value.kind === 'string' ? convert(value, numberType).unwrapOr(undefined) : undefined;
  return number?.kind === 'number' ? number.value : undefined;
}

function toBool(value: HclValue, weak: boolean): Decoded<boolean> {
  if (value.kind === 'bool') return ok(value.value);
  if (weak && value.kind === 'number') return ok(compareNumbers(value.value, 0) !== 0);
  const bool = value.kind === 'string' ? convert(value, boolType).unwrapOr(undefined) : undefined;
  return bool?.kind === 'bool' ? ok(bool.value) : wrongKind('a bool', value);
}

function toDuration(value: HclValue): Decoded<number> {
  if (value.kind === 'number') {
    if (isWhole(value.value) && Math.abs(toDouble(value.value)) <= 2 ** 63) return ok(toDouble(value.value) + 0);
    return err({ code: 'bad_value', message: 'A duration in nanoseconds must be a whole number.' });
  }
  const nanoseconds = value.kind === 'string' ? parseDuration(value.value) : undefined;
  if (nanoseconds !== undefined) return ok(nanoseconds);
  if (value.kind !== 'string') return wrongKind('a duration', value);
  return err({
    code: 'bad_value',
    message: 'This is not a duration: write for example "1h30m" or "10s", with the units ns, us, ms, s, m and h.',
  });
}

function toTextList(value: HclValue, weak: boolean): Decoded {
  // In version 1 sources a single string stands for a list of one string.
  if (weak && (value.kind === 'string' || value.kind === 'number' || value.kind === 'bool'))
    return toText(value).map((text) => [text]);
  return toList(value, 'strings', toText);
}

function toList(value: HclValue, of: string, one: (item: HclValue) => Decoded): Decoded {
  const items = itemsOf(value);
  if (items === undefined) return wrongKind(`a list of ${of}`, value);
  const decoded: PlainValue[] = [];
  for (const [index, item] of items.entries()) {
    const result = one(item);
    if (result.isErr())
      return err({ ...result.error, message: `Element ${index}: ${lowerFirst(result.error.message)}` });
    decoded.push(result.value);
  }
  return ok(decoded);
}

function toMap(value: HclValue, wanted: string, one: (item: HclValue) => Decoded): Decoded {
  const entries = entriesOf(value);
  if (entries === undefined) return wrongKind(wanted, value);
  const decoded: [string, PlainValue][] = [];
  for (const [key, item] of entries) {
    const result = one(item);
    if (result.isErr()) {
      return err({ ...result.error, message: `Key ${quoted(key)}: ${lowerFirst(result.error.message)}` });
    }
    decoded.push([key, result.value]);
  }
  return ok(Object.fromEntries(decoded));
}

function wrongKind(wanted: string, value: HclValue): Result<never, ValueError> {
  const given = value.kind === 'null' ? 'null' : `a value of type ${typeText(value)}`;
  const shown = value.kind === 'string' ? 'this string' : given;
  return err({ code: 'bad_value', message: `${upperFirst(wanted)} is required, not ${shown}.` });
}

function upperFirst(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
