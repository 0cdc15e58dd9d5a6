import { err, ok, type Result } from 'neverthrow';
import { regularExpression } from '../shared/regular-expression.js';
import { remembered } from '../shared/remembered.js';
import { any, integer, memberOf, type StructType, text, unsigned, type ValueType } from '../shared/schema.js';
import { positionsIn, type TextPosition } from '../shared/source-text.js';
import { isRecord, parseInt64Literal, quoted } from '../shared/values.js';
import {
  type Expression,
  type FilterSyntaxError,
  type Match,
  type Names,
  parseFilter,
  type Quantified,
  type Selector,
  type Test,
} from './parse-filter.js';
import {
  decodedBytes,
  type Evaluation,
  emptiness,
  equality,
  type FilterEvaluationError,
  fail,
  failing,
  membership,
  nilness,
  ofText,
  type Predicate,
  spend,
  type ValueTest,
} from './value-tests.js';

/** A compiled filter expression for records of one kind. */
export interface Filter {
  readonly matches: (record: unknown) => Result<boolean, FilterEvaluationError>;
  /** The members of the record that the expression reads; others need not be loaded. */
  readonly members: ReadonlySet<string>;
  /** The value of a member that every record has which matches, as it is written; undefined when others may match, too. */
  required(member: string): string | undefined;
}

/** Steps of one evaluation, each well below a microsecond. Nested quantified expressions multiply. */
const MAX_WORK = 100_000;

/**
 * Compiles filters for records of one kind, and caches the last few hundred. An unknown selector is not a syntax error:
 * the expression fails at the first record whose result depends on it.
 */
export function filterCompiler(schema: StructType): (expression: string) => Result<Filter, FilterSyntaxError> {
  return remembered(
    (expression) => parseFilter(expression).map((tree) => compiled(tree, schema, expression)),
    256,
    4_096,
  );
}

function compiled(tree: Expression, schema: StructType, source: string): Filter {
  const members = new Set<string>();
  const predicate = compile(tree, { scope: { schema, names: [] }, members, positionOf: positionsIn(source) });
  const evaluation: Evaluation = { record: undefined, names: [], work: MAX_WORK, error: undefined };
  return {
    members,
    required: (member) => requiredIn(tree, member),
    matches: (record) => {
      evaluation.record = record;
      evaluation.work = MAX_WORK;
      evaluation.error = undefined;
      const matches = predicate(evaluation);
      return evaluation.error === undefined ? ok(matches) : err(evaluation.error);
    },
  };
}

function requiredIn(tree: Expression, member: string): string | undefined {
  if (tree.kind === 'and') {
    for (const operand of tree.operands) {
      const value = requiredIn(operand, member);
      if (value !== undefined) return value;
    }
    return undefined;
  }
  if (tree.kind !== 'match' || tree.test !== 'equal' || tree.negated) return undefined;
  const { path } = tree.selector;
  return path.length === 1 && path[0] === member ? tree.value : undefined;
}

interface Context {
  readonly scope: Scope;
  /** Members of the record that were named so far. */
  readonly members: Set<string>;
  readonly positionOf: (offset: number) => TextPosition;
}

function compile(expression: Expression, context: Context): Predicate {
  switch (expression.kind) {
    case 'or':
      return anyOf(expression.operands.map((operand) => compile(operand, context)));
    case 'and':
      return allOf(expression.operands.map((operand) => compile(operand, context)));
    case 'not': {
      const operand = compile(expression.operand, context);
      return (evaluation) => !operand(evaluation);
    }
    case 'match':
      return compileMatch(expression, context);
    case 'any':
    case 'all':
      return compileQuantified(expression, resolve(expression.selector, context), context.scope.names.length, (names) =>
        compile(expression.inner, { ...context, scope: withNames(context.scope, names) }),
      );
  }
}

/** Short-circuit evaluation. An error also ends it. */
function anyOf(operands: readonly Predicate[]): Predicate {
  return (evaluation) => {
    for (const operand of operands) {
      if (operand(evaluation)) return true;
      if (evaluation.error !== undefined) return false;
    }
    return false;
  };
}

function allOf(operands: readonly Predicate[]): Predicate {
  return (evaluation) => {
    for (const operand of operands) {
      if (!operand(evaluation) || evaluation.error !== undefined) return false;
    }
    return true;
  };
}

function compileMatch({ test, negated, selector, value }: Match, context: Context): Predicate {
  const { type, read, where } = resolve(selector, context);
  const isTrue = TESTS[test](type, value, where);
  const ifAbsent = WHEN_ABSENT.has(test) !== negated;
  return (evaluation) => {
    if (!spend(evaluation, 1)) return false;
    const found = read(evaluation);
    if (evaluation.error !== undefined) return false;
    return found === ABSENT ? ifAbsent : isTrue(found, evaluation) !== negated;
  };
}

const TESTS: Readonly<Record<Test, (type: ValueType, value: string, where: string) => ValueTest>> = {
  equal: equality,
  in: membership,
  matches: patternMatch,
  empty: (type, _, where) => emptiness(type, where),
  nil: (type, _, where) => nilness(type, where),
};

/** A missing key of a map is an absent value, which is empty and nil, and not equal to anything. */
const WHEN_ABSENT: ReadonlySet<Test> = new Set<Test>(['empty', 'nil']);

function resolve(selector: Selector, { scope, members, positionOf }: Context): CompiledSelector {
  const { line, column } = positionOf(selector.offset);
  const compiledSelector = compileSelector(selector, scope, `${line}:${column}: ${selector.text}`);
  if (compiledSelector.member !== undefined) members.add(compiledSelector.member);
  return compiledSelector;
}

/** Steps of a match that cost one step of an evaluation. */
const MATCH_STEPS = 20;

/** Whether a regular expression in RE2's syntax matches any part of a string. */
function patternMatch(type: ValueType, pattern: string, where: string): ValueTest {
  if (type.kind !== 'text' && type.kind !== 'bytes' && type.kind !== 'any') {
    return failing(`${where}: a pattern cannot match a value of type ${type.kind}`);
  }
  const compiled = regularExpression(pattern);
  if (compiled.isErr()) return failing(`${where}: ${quoted(pattern)} is not a regular expression: ${compiled.error}`);
  const { matches, size } = compiled.value;
  const matchesText: ValueTest = (value, evaluation) => {
    const text = value as string;
    return spend(evaluation, Math.ceil((size * text.length) / MATCH_STEPS)) && matches(text);
  };
  if (type.kind === 'text') return ofText(type, where, matchesText);
  if (type.kind === 'bytes') {
    return (value, evaluation) => matchesText(new TextDecoder().decode(decodedBytes(value)), evaluation);
  }
  return (value, evaluation) =>
    typeof value === 'string'
      ? matchesText(value, evaluation)
      : fail(evaluation, `${where}: a pattern cannot match it`);
}

/** An element with its index, or a value with its key. */
interface Entry {
  readonly key: number | string;
  readonly value: unknown;
}

interface Binding extends LocalName {
  /** The value that the name is bound to. */
  readonly of: (entry: Entry) => unknown;
}

/**
 * Whether any or all entries of a list or a map match the inner expression. `compileInner` compiles it with additional names,
 * whose values start at `slot`.
 */
function compileQuantified(
  { kind, names }: Quantified,
  { type, read, where }: CompiledSelector,
  slot: number,
  compileInner: (names: readonly LocalName[]) => Predicate,
): Predicate {
  const isAny = kind === 'any';
  const isCollection = COLLECTIONS.has(type.kind);
  const bindings = bindingsOf(names, type);
  const holds = compileInner(bindings);
  return (evaluation) => {
    const collection = read(evaluation);
    if (evaluation.error !== undefined) return false;
    const entries = collection === ABSENT ? [] : isCollection ? entriesOf(collection, type) : undefined;
    if (entries === undefined) return fail(evaluation, `${where}: it is neither a list nor a map`);
    if (!spend(evaluation, entries.length)) return false;
    for (const entry of entries) {
      if (isAmbiguous(names)) return fail(evaluation, `${where}: ${names.index} cannot name both index and value`);
      for (const [at, { of }] of bindings.entries()) evaluation.names[slot + at] = of(entry);
      const result = holds(evaluation);
      if (evaluation.error !== undefined) return false;
      if (result === isAny) return isAny;
    }
    return !isAny;
  };
}

const COLLECTIONS: ReadonlySet<ValueType['kind']> = new Set<ValueType['kind']>(['list', 'map', 'bytes', 'any']);

/** A single name is bound to the elements of a list, or to the keys of a map. */
function bindingsOf({ single, index, value }: Names, type: ValueType): Binding[] {
  const isList = type.kind === 'list' || type.kind === 'bytes';
  const valueType = 'of' in type ? type.of : isList ? unsigned : any;
  const keyType = isList ? integer : type.kind === 'map' ? text : any;
  const key = (name: string): Binding => ({ name, type: keyType, of: (entry) => entry.key });
  const element = (name: string): Binding => ({ name, type: valueType, of: (entry) => entry.value });
  return [
    ...(index === undefined ? [] : [key(index)]),
    ...(value === undefined ? [] : [element(value)]),
    ...(single === undefined
      ? []
      : [type.kind === 'map' ? key(single) : isList ? element(single) : keyOrElement(single)]),
  ];
}

function keyOrElement(name: string): Binding {
  return { name, type: any, of: ({ key, value }) => (typeof key === 'string' ? key : value) };
}

function isAmbiguous({ index, value }: Names): boolean {
  return index !== undefined && index === value;
}

function entriesOf(collection: unknown, type: ValueType): readonly Entry[] | undefined {
  if (type.kind === 'bytes') return Array.from(decodedBytes(collection), (value, key) => ({ key, value }));
  if (Array.isArray(collection)) return collection.map((value: unknown, key) => ({ key, value }));
  if (isRecord(collection)) return Object.entries(collection).map(([key, value]) => ({ key, value }));
  return type.kind === 'any' ? undefined : [];
}

/** Names that a selector can refer to. */
interface Scope {
  readonly schema: StructType;
  /** Names of quantified expressions, outermost first; `Evaluation.names` holds their values in the same order. */
  readonly names: readonly LocalName[];
}

interface LocalName {
  readonly name: string;
  readonly type: ValueType;
}

/** A selector that was resolved against the schema. */
interface CompiledSelector {
  /** Line, column and text of the selector, for errors. */
  readonly where: string;
  /** The first member of the path; undefined if the path begins with a local name. */
  readonly member: string | undefined;
  readonly type: ValueType;
  /** The value, or `ABSENT`; unspecified after an error. Undefined and null mean the type's empty value, or null if it is nullable. */
  readonly read: (evaluation: Evaluation) => unknown;
}

/** The value of a missing key of a map. */
const ABSENT = Symbol('absent');

type Step = (value: unknown, evaluation: Evaluation) => unknown;

/** `where` is the position for errors. */
function compileSelector({ path }: Selector, scope: Scope, where: string): CompiledSelector {
  const [first = '', ...rest] = path;
  const slot = scope.names.findLastIndex(({ name }) => name === first);
  const local = scope.names[slot];
  const parts = local === undefined ? path : rest;
  let type: ValueType = local?.type ?? scope.schema;
  const steps = parts.map((part, index) => {
    const { type: found, step } = stepInto(type, part, index === parts.length - 1, where);
    type = found;
    return step;
  });
  return {
    where,
    member: local === undefined ? first : undefined,
    type,
    read: (evaluation) => {
      let value = local === undefined ? evaluation.record : evaluation.names[slot];
      for (const step of steps) value = step(value, evaluation);
      return value;
    },
  };
}

/** The scope within braces: additional names, which shadow outer ones. */
function withNames(scope: Scope, names: readonly LocalName[]): Scope {
  return { ...scope, names: [...scope.names, ...names] };
}

/** One step of a path. If the schema has no such member, reading it fails. */
function stepInto(type: ValueType, part: string, isLast: boolean, where: string): { type: ValueType; step: Step } {
  switch (type.kind) {
    case 'struct':
      return memberStep(type, part, where);
    case 'list':
      return { type: type.of, step: indexStep(part, where) };
    case 'map':
      return { type: type.of, step: keyStep(part, isLast, where) };
    case 'any':
      return { type: any, step: anyStep(part, isLast, where) };
    case 'bytes':
      return { type: unsigned, step: byteStep(part, where) };
    case 'text':
    case 'boolean':
    case 'integer':
    case 'unsigned':
    case 'float':
    case 'time':
      return deadEnd(`${where}: ${named(part)} cannot be a member of a value of type ${type.kind}`);
  }
}

function memberStep(type: StructType, part: string, where: string): { type: ValueType; step: Step } {
  const member = memberOf(type, part);
  if (member === undefined) return deadEnd(`${where}: there is no member ${named(part)}`);
  const { storedAs } = member;
  const read = typeof storedAs === 'string' ? (value: object) => (value as Record<string, unknown>)[storedAs] : same;
  return {
    type: member.type,
    step: (value, evaluation) => {
      if (value !== null && value !== undefined) return read(value);
      return type.nullable ? fail(evaluation, `${where}: ${named(part)} cannot be read from nil`) : undefined;
    },
  };
}

function indexStep(part: string, where: string): Step {
  const index = part === '' ? 0n : parseInt64Literal(part);
  if (index === undefined) return failingStep(`${where}: ${named(part)} is not a list index`);
  return (value, evaluation) => {
    const list = Array.isArray(value) ? value : [];
    if (index < 0n || index >= BigInt(list.length)) {
      return fail(evaluation, `${where}: index ${part} is beyond the ${list.length} elements of the list`);
    }
    return list[Number(index)];
  };
}

function byteStep(part: string, where: string): Step {
  const step = indexStep(part, where);
  return (value, evaluation) => step([...decodedBytes(value)], evaluation);
}

function keyStep(part: string, isLast: boolean, where: string): Step {
  return (value, evaluation) => {
    if (isRecord(value) && Object.hasOwn(value, part)) return value[part];
    return isLast ? ABSENT : fail(evaluation, `${where}: the map has no ${named(part)}`);
  };
}

function anyStep(part: string, isLast: boolean, where: string): Step {
  const [key, index] = [keyStep(part, isLast, where), indexStep(part, where)];
  return (value, evaluation) => {
    if (Array.isArray(value)) return index(value, evaluation);
    return isRecord(value)
      ? key(value, evaluation)
      : fail(evaluation, `${where}: ${named(part)} cannot be read from a plain value`);
  };
}

function deadEnd(message: string): { type: ValueType; step: Step } {
  return { type: any, step: failingStep(message) };
}

function failingStep(message: string): Step {
  return (_, evaluation) => fail(evaluation, message);
}

function same(value: object): unknown {
  return value;
}

function named(part: string): string {
  return JSON.stringify(part);
}
