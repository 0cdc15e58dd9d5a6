/*
 * Descriptions of records as data, from which filters and JSON Schemas are derived. Members have Nomad's names. The meaning of a missing or null
 * member in a filter depends on its type in Nomad, which the JSON does not show.
 */

/** The type of a value. */
export type ValueType = ScalarType | ListType | MapType | StructType;

/** What the type says about a member with this value. */
interface InRecord {
  /** Only the JSON has the member, or only filters, because Nomad has it. */
  readonly only?: 'json' | 'filters';
  /** The JSON may have null, for the empty value unless the type is `nullable`. */
  readonly orNull?: true;
  /** The JSON may lack the member. */
  readonly optional?: true;
}

type ScalarKind = 'text' | 'boolean' | 'integer' | 'unsigned' | 'float' | 'time' | 'bytes' | 'any';

/** `time` is RFC 3339 and cannot be compared; `bytes` is base64; `any` is any JSON value. */
export interface ScalarType<K extends ScalarKind = ScalarKind> extends InRecord {
  readonly kind: K;
  /** May be nil in a filter, which differs from the zero value. */
  readonly nullable: boolean;
  /** The only values of a string. */
  readonly values?: readonly string[];
  /** The lowest value of an `integer`. */
  readonly minimum?: number;
  /** Such as the unit. */
  readonly description?: string;
}

/** Null and missing mean the empty list. */
interface ListType extends InRecord {
  readonly kind: 'list';
  readonly of: ValueType;
}

/** A map may have any keys; the members of a struct are fixed. Null and missing mean the empty map. */
interface MapType extends InRecord {
  readonly kind: 'map';
  readonly of: ValueType;
}

/** An object with fixed members. */
export interface StructType extends InRecord, InJson {
  readonly kind: 'struct';
  /** May be nil in a filter. Otherwise a missing struct has its members' zero values. */
  readonly nullable: boolean;
  /** A function, for members that are built when a filter first reads them. */
  readonly members: Members | (() => Members);
}

/** The form of a struct in JSON. */
interface InJson {
  /** The name of its JSON Schema. */
  readonly name?: string;
  /** The members that are never missing; default: all that are not `optional`. */
  readonly required?: readonly string[];
  /** The JSON Schema does not list the members. */
  readonly opaque?: true;
}

export type Members = Readonly<Record<string, Member>>;

type Member = ValueType | MemberElsewhere;

/** A member stored under another name, or inline among the outer members. */
interface MemberElsewhere {
  readonly type: ValueType;
  /** The name in the record; `inline`: its members are stored directly in the outer struct. */
  readonly storedAs: string | { readonly inline: true };
}

/** A type for each member of the record type T, and any others. */
type MembersOf<T> = Members & { readonly [K in keyof T]-?: TypeOf<NonNullable<T[K]>> };

type TypeOf<V> = [V] extends [never]
  ? ValueType
  : [V] extends [string]
    ? ScalarType<'text' | 'time' | 'bytes'>
    : [V] extends [number]
      ? ScalarType<'integer' | 'unsigned' | 'float'>
      : [V] extends [boolean]
        ? ScalarType<'boolean'>
        : [V] extends [readonly unknown[]]
          ? ListType
          : MapType | StructType;

export const text = scalar('text');
export const flag = scalar('boolean');
/** Also durations, in nanoseconds. */
export const integer = scalar('integer');
export const unsigned = scalar('unsigned');
export const float = scalar('float');
export const time = scalar('time');
export const bytes = scalar('bytes');
export const any = scalar('any');

/** A signed integer of Nomad that is never negative. */
export const count = { ...integer, minimum: 0 };
export const nanoseconds = { ...integer, description: 'Nanoseconds.' };
export const unixNanoseconds = { ...integer, description: 'Nanoseconds since 1970.' };

/** The indexes of a record's creation and last change; `written` includes the times. */
export const placed = { CreateIndex: unsigned, ModifyIndex: unsigned };
export const written = { ...placed, CreateTime: unixNanoseconds, ModifyTime: unixNanoseconds };

/** One of these strings. */
export function oneOf(...values: readonly string[]): ScalarType<'text'> {
  return { ...text, values };
}

export function listOf(of: ValueType): ListType {
  return { kind: 'list', of };
}

export function mapOf(of: ValueType): MapType {
  return { kind: 'map', of };
}

/** A struct with every member of T; the compiler reports missing ones. */
export function struct<T = object>(members: MembersOf<NoInfer<T>> | (() => Members), form: InJson = {}): StructType {
  return { kind: 'struct', nullable: false, members, ...form };
}

/** A struct whose members may all be missing in the JSON. */
export function partial<T = object>(members: MembersOf<NoInfer<T>>, form: InJson = {}): StructType {
  return struct<T>(members, { ...form, required: [] });
}

/** A struct whose JSON Schema does not list the members. */
export function opaque<T = object>(members: MembersOf<NoInfer<T>>): StructType {
  return struct<T>(members, { opaque: true });
}

/** A pointer in Nomad, which the JSON never shows as null. */
export function pointer<T extends ScalarType | StructType>(type: T): T {
  return { ...type, nullable: true };
}

/** Null in the JSON is the empty value. */
export function orNull<T extends ValueType>(type: T): T {
  return { ...type, orNull: true };
}

export function nullable<T extends ScalarType | StructType>(type: T): T {
  return orNull(pointer(type));
}

export function optional<T extends ValueType>(type: T): T {
  return { ...type, optional: true };
}

export function onlyInJson<T extends ValueType>(type: T): T {
  return { ...type, only: 'json' };
}

export function onlyInFilters<T extends ValueType>(type: T): T {
  return { ...type, only: 'filters' };
}

export function storedAs(storedAs: MemberElsewhere['storedAs'], type: ValueType): MemberElsewhere {
  return { type, storedAs };
}

function membersOf({ members }: StructType): Members {
  return typeof members === 'function' ? members() : members;
}

/** The member that filters know by this name: its type, and its location in the record. */
export function memberOf(type: StructType, name: string): MemberElsewhere | undefined {
  const members = membersOf(type);
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  if (member === undefined || 'storedAs' in member) return member;
  return member.only === 'json' ? undefined : { type: member, storedAs: name };
}

function scalar<K extends ScalarKind>(kind: K): ScalarType<K> {
  return { kind, nullable: false };
}
