/*
 * The members of a record that a filter may name. Selectors use Nomad's member names. The meaning of a missing or null member
 * depends on its type in Nomad, which the JSON does not show, so each kind of record has a schema.
 */

export type FilterType = ScalarType | ListType | MapType | StructType;

/** `time` is RFC 3339 and cannot be compared; `bytes` is base64; `any` is any JSON value. */
export interface ScalarType {
  readonly kind: 'text' | 'boolean' | 'integer' | 'unsigned' | 'float' | 'time' | 'bytes' | 'any';
  /** May be null, which differs from the zero value. */
  readonly nullable: boolean;
}

/** Null and missing mean the empty list. */
interface ListType {
  readonly kind: 'list';
  readonly of: FilterType;
}

/** A map may have any keys; the members of a struct are fixed. Null and missing mean the empty map. */
interface MapType {
  readonly kind: 'map';
  readonly of: FilterType;
}

export interface StructType {
  readonly kind: 'struct';
  /** May be null. Otherwise a missing struct has its members' zero values. */
  readonly nullable: boolean;
  /** A function, for types that refer to each other. */
  readonly members: Members | (() => Members);
}

export type Members = Readonly<Record<string, Member>>;

type Member = FilterType | MemberElsewhere;

/** A member stored under another name, or inline among the outer members. */
interface MemberElsewhere {
  readonly type: FilterType;
  /** The name in the record; `inline`: its members are stored directly in the outer struct. */
  readonly storedAs: string | { readonly inline: true };
}

export const text = scalar('text');
export const flag = scalar('boolean');
/** Also durations, in nanoseconds. */
export const integer = scalar('integer');
export const unsigned = scalar('unsigned');
export const float = scalar('float');
export const time = scalar('time');
export const bytes = scalar('bytes');
export const any = scalar('any');

export function listOf(of: FilterType): ListType {
  return { kind: 'list', of };
}

export function mapOf(of: FilterType): MapType {
  return { kind: 'map', of };
}

export function struct(members: StructType['members']): StructType {
  return { kind: 'struct', nullable: false, members };
}

export function nullable<T extends ScalarType | StructType>(type: T): T {
  return { ...type, nullable: true };
}

export function storedAs(storedAs: MemberElsewhere['storedAs'], type: FilterType): MemberElsewhere {
  return { type, storedAs };
}

/** The member of this name: its type, and its location in the record. */
export function memberOf(type: StructType, name: string): MemberElsewhere | undefined {
  const members = typeof type.members === 'function' ? type.members() : type.members;
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  return member === undefined || 'storedAs' in member ? member : { type: member, storedAs: name };
}

function scalar(kind: ScalarType['kind']): ScalarType {
  return { kind, nullable: false };
}
