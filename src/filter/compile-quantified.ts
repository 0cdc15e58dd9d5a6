import { isRecord } from '../shared/values.js';
import { ABSENT, type CompiledSelector, type LocalName } from './compile-selector.js';
import { fail, type Predicate, spend } from './evaluation.js';
import type { Names, Quantified } from './parse-filter.js';
import { any, type FilterType, integer, text, unsigned } from './schema.js';
import { decodedBytes } from './value-tests.js';

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
export function compileQuantified(
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

const COLLECTIONS: ReadonlySet<FilterType['kind']> = new Set<FilterType['kind']>(['list', 'map', 'bytes', 'any']);

/** A single name is bound to the elements of a list, or to the keys of a map. */
function bindingsOf({ single, index, value }: Names, type: FilterType): Binding[] {
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

function entriesOf(collection: unknown, type: FilterType): readonly Entry[] | undefined {
  if (type.kind === 'bytes') return Array.from(decodedBytes(collection), (value, key) => ({ key, value }));
  if (Array.isArray(collection)) return collection.map((value: unknown, key) => ({ key, value }));
  if (isRecord(collection)) return Object.entries(collection).map(([key, value]) => ({ key, value }));
  return type.kind === 'any' ? undefined : [];
}
