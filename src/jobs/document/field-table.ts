/*
 * The job document is described once, as data: what a block is called, which fields it has, of what type, what an unset
 * field is. Decoding, the step from the submitted to the stored form, and the JSON Schema all read this description, and
 * the TypeScript types of both forms are inferred from it.
 *
 * A document has two forms. The *submitted* form distinguishes "not given" (null) from every value. The *stored* form is that
 * of the job interface's responses: defaults are filled, and a scalar is null only if null itself has a meaning.
 */

/** Whole numbers are checked against the bounds of the API's integer types. */
interface IntegerBounds {
  readonly min: number;
  readonly max: number;
}

export type FieldKind =
  | 'string'
  | 'boolean'
  | 'integer'
  | 'duration'
  | 'base64'
  | 'strings'
  | 'integers'
  | 'string_map'
  | 'string_list_map'
  | 'free_form'
  | 'block'
  | 'blocks'
  | 'block_map';

/**
 * The treatment of a field in the stored form: `zero` fills the type's zero value, `null` keeps null, `drop` omits the
 * field (input-only), `reset` always stores the zero value (a legacy field that is returned but never set).
 */
type StoredRule = 'zero' | 'null' | 'drop' | 'reset';

/** One field. `A` is its type in the submitted form, `S` in the stored form (`never`: not stored). */
export interface Field<A, S> {
  readonly kind: FieldKind;
  /** The value of a field that is not given: null, or the type's zero value. */
  readonly unset: string | number | boolean | null;
  readonly stored: StoredRule;
  readonly block?: Block<FieldSet>;
  readonly bounds?: IntegerBounds;
  /** The values that validation accepts. */
  readonly values?: readonly string[];
  /** The name in the stored form, if it differs. */
  readonly storedName?: string;
  /** The stored value for null, if it is not the zero value. */
  readonly storedUnset?: number | boolean;
  /** Only the stored form has the field, which is derived from others. */
  readonly storedOnly?: true;
  /** A reset field whose stored value is null instead of the zero value. */
  readonly keepsNull?: true;
  /** An empty list of blocks is kept in the stored form; others become null. */
  readonly keepsEmpty?: true;
  /** The key is omitted from the submitted form instead of being null. */
  readonly absentWhenUnset?: true;
  readonly forms?: { readonly submitted: A; readonly stored: S };
}

export type FieldSet = Readonly<Record<string, Field<unknown, unknown>>>;

/** `S` is the type of its stored form. */
export interface Block<F extends FieldSet, S = unknown> {
  readonly name: string;
  readonly fields: F;
  /** The stored form omits fields with an empty value. */
  readonly omitEmpty: boolean;
  readonly form?: S;
}

/** The submitted form of a block: every key present. */
export type Submitted<B> =
  B extends Block<infer F>
    ? {
        [K in keyof F as F[K] extends Field<infer A, infer _S>
          ? [A] extends [never]
            ? never
            : K
          : never]: F[K] extends Field<infer A, infer _S> ? A : never;
      }
    : never;

/** The stored form of a block that neither omits fields nor stores one under another name. */
export type Stored<B extends { readonly fields: FieldSet }> = {
  readonly [K in keyof B['fields'] as StoredOf<B['fields'][K]> extends never ? never : K]: StoredOf<B['fields'][K]>;
};
type StoredOf<F> = F extends Field<infer _A, infer S> ? S : never;

/** A free-form JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** An object of JSON, by its keys. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

type StringMap = { [key: string]: string };
/** A block with any content, such as the configuration of a driver. */
export type FreeForm = { [key: string]: JsonValue };

/** The fields that a submission may have. */
export function submittedFields(block: Block<FieldSet>): [name: string, field: Field<unknown, unknown>][] {
  return Object.entries(block.fields).filter(([, field]) => field.storedOnly !== true);
}

/** The fields of the stored form, by their names there. */
export function storedFields(block: Block<FieldSet>): [name: string, field: Field<unknown, unknown>][] {
  return Object.entries(block.fields)
    .filter(([, field]) => field.stored !== 'drop')
    .map(([name, field]) => [field.storedName ?? name, field]);
}

// The greatest doubles that still fit the wire's 64-bit integers.
const int64: IntegerBounds = { min: -(2 ** 63), max: 2 ** 63 - 1024 };
export const int8: IntegerBounds = { min: -128, max: 127 };
export const uint8: IntegerBounds = { min: 0, max: 255 };
export const uint16: IntegerBounds = { min: 0, max: 65_535 };
export const uint32: IntegerBounds = { min: 0, max: 4_294_967_295 };
export const uint64: IntegerBounds = { min: 0, max: 2 ** 64 - 2048 };

/** `block<S>()(name, fields)`: a block whose stored form is the interface `S`. */
export function block<S>() {
  return <const F extends FieldSet>(name: string, fields: F, options?: { omitEmpty: true }): Block<F, S> => ({
    name,
    fields,
    omitEmpty: options?.omitEmpty ?? false,
  });
}

// Scalars: plain ones have the zero value when unset, the `…OrNull` ones have null in the submitted form.
export const text: Field<string, string> = { kind: 'string', unset: '', stored: 'zero' };
export const textOrNull: Field<string | null, string> = { kind: 'string', unset: null, stored: 'zero' };
/** A string with one of these values. Decoding accepts any string; validation refuses the others. */
export function oneOf<const V extends readonly string[]>(...values: V): Choice<string, V> {
  return { ...text, values };
}

export function oneOfOrNull<const V extends readonly string[]>(...values: V): Choice<string | null, V> {
  return { ...textOrNull, values };
}

type Choice<A, V extends readonly string[]> = Field<A, string> & { readonly values: V };

export const flag: Field<boolean, boolean> = { kind: 'boolean', unset: false, stored: 'zero' };
export const flagOrNull: Field<boolean | null, boolean> = { kind: 'boolean', unset: null, stored: 'zero' };
/** Whole nanoseconds. */
export const duration: Field<number, number> = { kind: 'duration', unset: 0, stored: 'zero', bounds: int64 };
/** Whole nanoseconds. */
export const durationOrNull: Field<number | null, number> = {
  kind: 'duration',
  unset: null,
  stored: 'zero',
  bounds: int64,
};
export const integer = integerOf(int64);
export const integerOrNull = integerOrNullOf(int64);
/** Standard base64 string. */
export const bytes: Field<string | null, string | null> = { kind: 'base64', unset: null, stored: 'null' };

export const strings: Field<string[] | null, readonly string[] | null> = {
  kind: 'strings',
  unset: null,
  stored: 'null',
};
export const stringMap: Field<StringMap | null, Readonly<StringMap> | null> = {
  kind: 'string_map',
  unset: null,
  stored: 'null',
};
export const stringListMap: Field<
  { [key: string]: string[] } | null,
  { readonly [key: string]: readonly string[] } | null
> = {
  kind: 'string_list_map',
  unset: null,
  stored: 'null',
};
export const freeForm: Field<FreeForm | null, FreeForm | null> = { kind: 'free_form', unset: null, stored: 'null' };

export function integerOf(bounds: IntegerBounds): Field<number, number> {
  return { kind: 'integer', unset: 0, stored: 'zero', bounds };
}

export function integerOrNullOf(bounds: IntegerBounds): Field<number | null, number> {
  return { kind: 'integer', unset: null, stored: 'zero', bounds };
}

export function integersOf(bounds: IntegerBounds): Field<number[] | null, readonly number[] | null> {
  return { kind: 'integers', unset: null, stored: 'null', bounds };
}

/** One nested block, null when not given, in both forms. */
export function one<F extends FieldSet, S>(of: Block<F, S>): Field<Submitted<Block<F>> | null, S | null> {
  return { kind: 'block', unset: null, stored: 'null', block: of };
}

/** One nested block that the stored form always has. */
export function oneAlways<F extends FieldSet, S>(of: Block<F, S>): Field<Submitted<Block<F>> | null, S> {
  return { kind: 'block', unset: null, stored: 'zero', block: of };
}

/** A repeatable block: a list, null when there is none. */
export function many<F extends FieldSet, S>(of: Block<F, S>): Field<Submitted<Block<F>>[] | null, readonly S[] | null> {
  return { kind: 'blocks', unset: null, stored: 'null', block: of };
}

/** Blocks keyed by their label. */
export function keyed<F extends FieldSet, S>(
  of: Block<F, S>,
): Field<{ [label: string]: Submitted<Block<F>> } | null, { readonly [label: string]: S } | null> {
  return { kind: 'block_map', unset: null, stored: 'null', block: of };
}

/** The stored form keeps null, because "not given" has a meaning different from any value. */
export function keptNull<A, S>(field: Field<A, S>): Field<A, S | null> {
  return { ...retyped(field), stored: 'null' };
}

/** The stored form has a list, empty when there is none. */
export function neverNull<A, S>(field: Field<A, S>): Field<A, NonNullable<S>> {
  return { ...retyped(field), stored: 'zero' };
}

/** The stored form distinguishes an empty list from none. */
export function keptEmpty<A, S>(field: Field<A, S>): Field<A, S> {
  return { ...field, keepsEmpty: true };
}

/** Read from the submission, but not stored. */
export function inputOnly<A, S>(field: Field<A, S>): Field<A, never> {
  return { ...retyped(field), stored: 'drop' };
}

/** Never submitted; computed in the stored form. */
export function storedOnly<A, S>(field: Field<A, S>): Field<never, S> {
  return { ...retyped(field), storedOnly: true };
}

/** Accepted in a submission but not stored: the stored form always has the zero value. */
export function reset<A, S>(field: Field<A, S>): Field<A, S> {
  return field.stored === 'null' ? { ...field, stored: 'reset', keepsNull: true } : { ...field, stored: 'reset' };
}

/** The stored form has this value when the field is not given. */
export function storedUnset<A, S>(field: Field<A, S>, value: number | boolean): Field<A, S> {
  return { ...field, storedUnset: value };
}

export function storedAs<A, S>(field: Field<A, S>, storedName: string): Field<A, S> {
  return { ...field, storedName };
}

export function absentWhenUnset<A, S>(field: Field<A, S>): Field<NonNullable<A> | undefined, S> {
  return { ...retyped(field), absentWhenUnset: true };
}

function retyped<A, S>(field: Field<A, S>): Omit<Field<A, S>, 'forms'> {
  const { forms: _forms, ...rest } = field;
  return rest;
}
