import { table } from '../shared/table.js';
import { type Policy, parsePolicy } from './policy/parse-policy.js';
import type { Workload } from './principal.js';

/** The tasks that a policy also applies to: those of a namespace, a job, a group, or one task. An empty string means all. */
export interface PolicyJob {
  /** The namespace of the job; needed for the other members. */
  readonly Namespace: string;
  /** The job; needed for a group. */
  readonly JobID: string;
  /** The group of the job; needed for a task. */
  readonly Group: string;
  readonly Task: string;
}

/** A stored policy, in the wire's own member names. */
export interface StoredPolicy {
  /** 1 to 128 letters, digits and hyphens; unique. */
  readonly Name: string;
  /** At most 256 characters, for people. */
  readonly Description: string;
  /** The rules in the policy language (docs/guides/policies.md). */
  readonly Rules: string;
  /** The tasks that have these rights by their workload identity; null for none. */
  readonly JobACL: PolicyJob | null;
  /** Digest of the written content, in base64. */
  readonly Hash: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** A policy with its parsed rules. */
export interface PolicyDocument extends StoredPolicy {
  readonly RulesJSON: Policy;
}

/** The writable part of a policy. */
type PolicyInput = Pick<StoredPolicy, 'Name' | 'Description' | 'Rules' | 'JobACL'>;

export const policies = table<StoredPolicy>('acl_policies', (policy) => [policy.Name], {
  by_job: { version: 1, key: ({ JobACL }) => (JobACL === null ? undefined : [JobACL.Namespace, JobACL.JobID]) },
});

/** The policy of callers without a token. */
export const anonymousPolicy = 'anonymous';

/** A policy as lists show it. */
export type PolicyStub = Omit<StoredPolicy, 'Rules'>;

export function policyStub({ Rules: _rules, ...stub }: StoredPolicy): PolicyStub {
  return stub;
}

const parsed = new WeakMap<StoredPolicy, Policy | undefined>();

/** The rules of a stored policy, parsed once per record. Rules that this version cannot parse grant nothing. */
export function rulesOf(policy: StoredPolicy): Policy | undefined {
  if (!parsed.has(policy)) parsed.set(policy, parsePolicy(policy.Rules).unwrapOr(undefined));
  return parsed.get(policy);
}

/** Whether the policy applies to the task. */
export function coversWorkload({ JobACL }: StoredPolicy, { namespace, jobId, group, task }: Workload): boolean {
  if (JobACL === null || JobACL.Namespace !== namespace) return false;
  const named: readonly (readonly [string, string])[] = [
    [JobACL.JobID, jobId],
    [JobACL.Group, group],
    [JobACL.Task, task],
  ];
  return named.every(([asked, own]) => asked === '' || asked === own);
}

/** All problems of a policy, in order; empty if it may be stored. */
export function policyFaults({ Name, Description, Rules, JobACL }: PolicyInput): readonly string[] {
  const faults: string[] = [];
  if (!isPolicyName(Name)) faults.push(`invalid name '${Name.slice(0, 160)}'`);
  const understood = parsePolicy(Rules);
  if (understood.isErr()) {
    const { message, line, column } = understood.error;
    faults.push(`failed to parse rules: at line ${line}, column ${column}: ${message}`);
  }
  if ([...Description].length > 256) faults.push('description longer than 256');
  faults.push(...jobFaults(JobACL));
  return faults;
}

/** 1 to 128 letters, digits and hyphens: policies and roles. */
function isPolicyName(name: string): boolean {
  return /^[A-Za-z0-9-]{1,128}$/.test(name);
}

function jobFaults(job: PolicyJob | null): readonly string[] {
  if (job === null) return [];
  const faults: string[] = [];
  if (job.JobID !== '' && job.Namespace === '') faults.push('namespace must be set to set job ID');
  if (job.Group !== '' && job.JobID === '') faults.push('job ID must be set to set group');
  if (job.Task !== '' && job.Group === '') faults.push('group must be set to set task');
  return faults;
}

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
