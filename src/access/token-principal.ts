import { mergePolicies } from './merge-policies.js';
import { anonymousPolicy, coversWorkload, rulesOf, type StoredPolicy } from './policy-record.js';
import { anonymousPrincipal, type Principal, type Workload } from './principal.js';
import type { StoredRole } from './role-record.js';
import type { StoredToken } from './tokens.js';

/** Look-up of policies and roles. */
export interface Rulebook {
  readonly policy: (name: string) => StoredPolicy | undefined;
  readonly role: (id: string) => StoredRole | undefined;
}

/** The principal of a stored token: its own rules, its policies and those of its roles, as far as they exist. */
export function tokenPrincipal(token: StoredToken, rulebook: Rulebook): Principal {
  const { accessor, name, management, namespaces, workspaces, policies = [], roles = [], node } = token;
  if (node !== undefined) return { accessor, name, management: false, namespaces: {}, workspaces: {}, node };
  if (policies.length === 0 && roles.length === 0) return { accessor, name, management, namespaces, workspaces };
  const named = new Set(policies);
  for (const id of roles) for (const { Name } of rulebook.role(id)?.Policies ?? []) named.add(Name);
  return {
    accessor,
    name,
    management,
    workspaces,
    ...mergePolicies(rulesOfAll([...named].map(rulebook.policy)), namespaces),
    policies: [...named],
    roles,
  };
}

/** The principal of callers without a token: the rights of the policy `anonymous`, or none if it does not exist. */
export function nobodysPrincipal(rulebook: Rulebook): Principal {
  const policy = rulebook.policy(anonymousPolicy);
  const named = { ...anonymousPrincipal, policies: [anonymousPolicy] };
  return policy === undefined ? named : { ...named, ...mergePolicies(rulesOfAll([policy])) };
}

/** The principal of a task: it may read its job's variables, and has the rights of the policies for its job. */
export function workloadPrincipal(workload: Workload, candidates: readonly StoredPolicy[]): Principal {
  const covering = candidates.filter((policy) => coversWorkload(policy, workload));
  return {
    accessor: '',
    name: `${workload.jobId}/${workload.group}/${workload.task}`,
    management: false,
    workspaces: {},
    ...mergePolicies(rulesOfAll(covering)),
    policies: covering.map(({ Name }) => Name),
    workload,
  };
}

function rulesOfAll(policies: readonly (StoredPolicy | undefined)[]) {
  return policies.flatMap((policy) => (policy === undefined ? [] : (rulesOf(policy) ?? [])));
}
