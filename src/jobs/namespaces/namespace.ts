import { err, ok, type Result } from 'neverthrow';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { NamespaceError } from '../errors.js';

/** A space of job IDs with its own access rules. */
export interface Namespace {
  /** 1 to 128 letters, digits and hyphens. */
  readonly Name: string;
  /** At most 256 characters, for people. */
  readonly Description: string;
  /** Always empty: quotas are set in the settings of the engine. */
  readonly Quota: string;
  /** What jobs may use; null allows everything. */
  readonly Capabilities: NamespaceCapabilities | null;
  /** Always null. */
  readonly NodePoolConfiguration: null;
  /** Always null. */
  readonly VaultConfiguration: null;
  /** Always null. */
  readonly ConsulConfiguration: null;
  /** Names and values for people and programs; null for none. */
  readonly Meta: Readonly<Record<string, string>> | null;
  /** Base64 of a digest of the fields above; changes when they do. */
  readonly Hash: string;
  /** Always null. */
  readonly RequiredExtraClaims: null;
  /** Always null. */
  readonly OptionalExtraClaims: null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** What jobs of the namespace may use; null lists allow everything. */
export interface NamespaceCapabilities {
  /** The only drivers that tasks may use; null for all. */
  readonly EnabledTaskDrivers: readonly string[] | null;
  /** Drivers that tasks may not use; null for none. */
  readonly DisabledTaskDrivers: readonly string[] | null;
  /** The only modes that networks may have; null for all. */
  readonly EnabledNetworkModes: readonly string[] | null;
  /** Modes that networks may not have; null for none. */
  readonly DisabledNetworkModes: readonly string[] | null;
}

export const namespaces = table<Namespace>('namespaces', (namespace) => [namespace.Name]);

export const defaultNamespaceName = 'default';

/** The built-in namespace. */
export const defaultNamespace: Namespace = {
  Name: defaultNamespaceName,
  Description: 'Default shared namespace',
  Quota: '',
  Capabilities: null,
  NodePoolConfiguration: null,
  VaultConfiguration: null,
  ConsulConfiguration: null,
  Meta: null,
  Hash: '',
  RequiredExtraClaims: null,
  OptionalExtraClaims: null,
  CreateIndex: 1,
  ModifyIndex: 1,
};

const name = /^[a-zA-Z0-9-]{1,128}$/;
const maximumDescription = 256;

/** The rules for a namespace's own fields (job interface, namespaces). */
export function checkNamespace(
  namespace: Pick<Namespace, 'Name' | 'Description'>,
): Result<void, Extract<NamespaceError, { type: 'invalid_namespace' }>> {
  if (!name.test(namespace.Name)) {
    const shown = JSON.stringify(namespace.Name.slice(0, 140));
    return invalid(`invalid name ${shown}. It must have 1 to 128 letters, digits and dashes`);
  }
  if (namespace.Description.length > maximumDescription) {
    return invalid(`description longer than ${maximumDescription} characters`);
  }
  return ok(undefined);
}

function invalid(message: string): Result<never, Extract<NamespaceError, { type: 'invalid_namespace' }>> {
  return err({ type: 'invalid_namespace', message });
}

/** The sums of what the live jobs of a namespace request. Kept only while there are quotas. */
export interface QuotaUsage {
  readonly Namespace: string;
  readonly Jobs: number;
  /** MHz. */
  readonly CPU: number;
  readonly Cores: number;
  /** MiB. */
  readonly MemoryMB: number;
}

/** The dispatches of a namespace, measured against the rate of its quota. */
interface DispatchRate {
  readonly Namespace: string;
  /** When everything taken so far will have been replenished. */
  readonly Until: Instant;
}

export const quotaUsages = table<QuotaUsage>('quota_usages', ({ Namespace }) => [Namespace]);
export const dispatchRates = table<DispatchRate>('dispatch_rates', ({ Namespace }) => [Namespace]);
