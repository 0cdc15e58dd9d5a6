/*
 * What a filter may name of a record. Selectors use the upstream's member names, and what a member that is missing or null means
 * depends on its type there, which its JSON does not tell: so each kind of record has a schema.
 */

export type FilterType = ScalarType | ListType | MapType | StructType;

/** `time` is RFC 3339 and cannot be compared; `bytes` is base64; `any` is whatever JSON holds there. */
export interface ScalarType {
  readonly kind: 'text' | 'boolean' | 'integer' | 'unsigned' | 'float' | 'time' | 'bytes' | 'any';
  /** May be null, which is not the same as its zero value. */
  readonly nullable: boolean;
}

/** Null and missing are the empty list. */
export interface ListType {
  readonly kind: 'list';
  readonly of: FilterType;
}

/** Any name may be missing in a map, none in a struct. Null and missing are the empty map. */
export interface MapType {
  readonly kind: 'map';
  readonly of: FilterType;
}

export interface StructType {
  readonly kind: 'struct';
  /** May be null. One that may not be has its members' zero values when it is missing. */
  readonly nullable: boolean;
  /** A function where types refer to each other. */
  readonly members: Members | (() => Members);
}

export type Members = Readonly<Record<string, Member>>;

export type Member = FilterType | MemberElsewhere;

/** A member that the record holds under another name, or among the members around it. */
export interface MemberElsewhere {
  readonly type: FilterType;
  /** The name in the record; `inline`: the members of this one stand beside it. */
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

/** The member of this name: its type, and where the record holds it. */
export function memberOf(type: StructType, name: string): MemberElsewhere | undefined {
  const members = typeof type.members === 'function' ? type.members() : type.members;
  const member = Object.hasOwn(members, name) ? members[name] : undefined;
  return member === undefined || 'storedAs' in member ? member : { type: member, storedAs: name };
}

function scalar(kind: ScalarType['kind']): ScalarType {
  return { kind, nullable: false };
}
