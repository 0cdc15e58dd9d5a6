import { closestRule } from '../shared/glob.js';
import { type Capability, expandCapabilities } from './capability.js';
import type { NamespaceRule, Principal, WorkspaceRight } from './principal.js';

/** The namespace name that asks for all namespaces at once. */
export const everyNamespace = '*';

/**
 * Whether the caller has at least one of the capabilities in the namespace. In the namespace `*`, whether any of the
 * caller's rules grants one. `deny` in the rule that applies refuses everything (job interface, Authentication).
 */
export function allows(principal: Principal, namespace: string, anyOf: readonly Capability[]): boolean {
  if (principal.management) return true;
  if (namespace === everyNamespace) {
    return Object.values(principal.namespaces).some((rule) => ruleGrants(rule, anyOf));
  }
  const rule = closestRule(principal.namespaces, namespace);
  return rule !== undefined && ruleGrants(rule, anyOf);
}

/** Whether the caller has the right on the workspace; `admin` includes `events`. */
export function allowsWorkspace(principal: Principal, workspaceId: string, right: WorkspaceRight): boolean {
  if (principal.management) return true;
  const granted = closestRule(principal.workspaces, workspaceId);
  return granted === 'admin' || granted === right;
}

/** Whether any of the caller's rules grants the right on a workspace; `admin` includes `events`. */
export function allowsSomeWorkspace(principal: Principal, right: WorkspaceRight): boolean {
  return (
    principal.management ||
    Object.values(principal.workspaces).some((granted) => granted === 'admin' || granted === right)
  );
}

function ruleGrants(rule: NamespaceRule, anyOf: readonly Capability[]): boolean {
  const granted = expandCapabilities(rule.policy, rule.capabilities);
  return !granted.has('deny') && anyOf.some((capability) => granted.has(capability));
}
