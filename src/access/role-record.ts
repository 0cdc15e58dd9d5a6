import { table } from '../shared/table.js';
import { isPolicyName } from './policy-record.js';

/** A stored role: policies under one name, in the wire's own member names. */
export interface StoredRole {
  /** A UUID, made by the server. */
  readonly ID: string;
  /** 1 to 128 letters, digits and hyphens; unique. */
  readonly Name: string;
  /** At most 256 characters, for people. */
  readonly Description: string;
  /** The policies whose rights the role grants; at least one. */
  readonly Policies: readonly { readonly Name: string }[];
  /** Digest of the written content, in base64. */
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** The writable part of a role. */
export type RoleInput = Pick<StoredRole, 'Name' | 'Description' | 'Policies'>;

export const roles = table<StoredRole>('acl_roles', (role) => [role.ID], {
  by_name: { version: 1, key: (role) => [role.Name] },
});

/** All problems of a role, in order; empty if it may be stored. */
export function roleFaults({ Name, Description, Policies }: RoleInput): readonly string[] {
  const faults: string[] = [];
  if (!isPolicyName(Name)) faults.push(`invalid name '${Name.slice(0, 160)}'`);
  if ([...Description].length > 256) faults.push('description longer than 256');
  if (Policies.length === 0) faults.push('at least one policy should be specified');
  return faults;
}
