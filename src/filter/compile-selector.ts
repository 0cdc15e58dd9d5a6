import { isRecord, parseInt64Literal } from '../shared/values.js';
import { type Evaluation, fail } from './evaluation.js';
import type { Selector } from './parse-filter.js';
import { any, type FilterType, memberOf, type StructType, unsigned } from './schema.js';
import { decodedBytes } from './value-tests.js';

/** Names that a selector can refer to. */
export interface Scope {
  readonly schema: StructType;
  /** Names of quantified expressions, outermost first; `Evaluation.names` holds their values in the same order. */
  readonly names: readonly LocalName[];
}

export interface LocalName {
  readonly name: string;
  readonly type: FilterType;
}

/** A selector that was resolved against the schema. */
export interface CompiledSelector {
  /** Line, column and text of the selector, for errors. */
  readonly where: string;
  /** The first member of the path; undefined if the path begins with a local name. */
  readonly member: string | undefined;
  readonly type: FilterType;
  /** The value, or `ABSENT`; unspecified after an error. Undefined and null mean the type's empty value, or null if it is nullable. */
  readonly read: (evaluation: Evaluation) => unknown;
}

/** The value of a missing key of a map. */
export const ABSENT = Symbol('absent');

type Step = (value: unknown, evaluation: Evaluation) => unknown;

/** `where` is the position for errors. */
export function compileSelector({ path }: Selector, scope: Scope, where: string): CompiledSelector {
  const [first = '', ...rest] = path;
  const slot = scope.names.findLastIndex(({ name }) => name === first);
  const local = scope.names[slot];
  const parts = local === undefined ? path : rest;
  let type: FilterType = local?.type ?? scope.schema;
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
export function withNames(scope: Scope, names: readonly LocalName[]): Scope {
  return { ...scope, names: [...scope.names, ...names] };
}

/** One step of a path. If the schema has no such member, reading it fails. */
function stepInto(type: FilterType, part: string, isLast: boolean, where: string): { type: FilterType; step: Step } {
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

function memberStep(type: StructType, part: string, where: string): { type: FilterType; step: Step } {
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
  if (index === undefined) return failing(`${where}: ${named(part)} is not a list index`);
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

function deadEnd(message: string): { type: FilterType; step: Step } {
  return { type: any, step: failing(message) };
}

function failing(message: string): Step {
  return (_, evaluation) => fail(evaluation, message);
}

function same(value: object): unknown {
  return value;
}

function named(part: string): string {
  return JSON.stringify(part);
}
