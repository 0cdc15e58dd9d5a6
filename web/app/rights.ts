import { computed, signal } from '@preact/signals';
import { type GuardedCall, rightsOfCalls } from '../rules/rights-of-calls.js';
import type { box, ValueOf } from './engine.js';

export type CallerRights = ValueOf<typeof box.tokens.rights>;
type Area = keyof CallerRights['areas'];

/** Rights with the server's time minus that of the browser, in milliseconds, when they were received: other tabs get them later. */
export type KnownRights = CallerRights & { readonly skew: number };

/** What the server says that the caller may do; undefined until it has answered. */
export const rights = signal<KnownRights | undefined>(undefined);

/** The server's time minus that of the browser, in milliseconds. */
export const clockSkew = computed(() => rights.value?.skew ?? 0);

/** To be called when they are received. */
export const withSkew = (received: CallerRights): KnownRights => ({
  ...received,
  skew: Date.parse(received.now) - Date.now(),
});

/** Whether the caller may make a call in the namespace, or for `*` in any. */
export function may(call: GuardedCall, namespace: string): boolean {
  return hasOneOf(rightsOfCalls[call], namespace);
}

function hasOneOf(enough: readonly string[], namespace: string): boolean {
  const held = rights.value;
  if (held === undefined) return false;
  if (held.management) return true;
  const has = (of: readonly string[] | undefined): boolean => of?.some((each) => enough.includes(each)) === true;
  return namespace === '*' ? Object.values(held.namespaces).some(has) : has(held.namespaces[namespace]);
}

/** Whether the caller may run commands in tasks: they reach the whole node, which is a separate right. */
export function mayRunInTasks(namespace: string): boolean {
  return may('allocations.exec', namespace) && hasOneOf(['alloc-node-exec'], namespace);
}

/** A job is stopped with fewer rights than it is purged with, by the same call. */
export function mayPurge(namespace: string): boolean {
  return hasOneOf(['submit-job', 'purge-job'], namespace);
}

/** Whether the caller may make the next version of a job: read its source, plan it, and register it. */
export function mayEdit(namespace: string): boolean {
  return may('jobs.parse', namespace) && may('jobs.plan', namespace) && may('jobs.register', namespace);
}

const levels = { list: 1, read: 2, write: 3 };

export function mayInArea(area: Area, level: keyof typeof levels): boolean {
  const held = rights.value;
  if (held === undefined) return false;
  const granted = held.areas[area];
  return held.management || (granted !== undefined && levels[granted] >= levels[level]);
}

export function workspaceRight(workspace: string): 'admin' | 'portal' | 'events' | undefined {
  const held = rights.value;
  return held?.workspaces[workspace]?.right ?? (held?.management === true ? 'admin' : undefined);
}

/** The names of the namespaces that the caller may see anything of. */
export const namespaceNames = computed(() => Object.keys(rights.value?.namespaces ?? {}).sort());

/** How a refusal names the caller. */
export const callerName = computed(() => {
  const held = rights.value;
  if (held === undefined) return '';
  return held.name || (held.management ? 'a management caller' : 'a caller without a name');
});
