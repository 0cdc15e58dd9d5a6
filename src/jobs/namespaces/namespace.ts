import { table } from '../../shared/table.js';

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
