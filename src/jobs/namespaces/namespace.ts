import { table } from '../../shared/table.js';

/** A space of job IDs with its own access rules. */
export interface Namespace {
  readonly Name: string;
  readonly Description: string;
  readonly Quota: string;
  readonly Capabilities: NamespaceCapabilities | null;
  readonly NodePoolConfiguration: null;
  readonly VaultConfiguration: null;
  readonly ConsulConfiguration: null;
  readonly Meta: Readonly<Record<string, string>> | null;
  /** Base64 of a digest of the fields above; changes when they do. */
  readonly Hash: string;
  readonly RequiredExtraClaims: null;
  readonly OptionalExtraClaims: null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** What jobs of the namespace may use; null lists allow everything. */
export interface NamespaceCapabilities {
  readonly EnabledTaskDrivers: readonly string[] | null;
  readonly DisabledTaskDrivers: readonly string[] | null;
  readonly EnabledNetworkModes: readonly string[] | null;
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
