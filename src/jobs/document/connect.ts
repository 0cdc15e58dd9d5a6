import type { Nanoseconds } from './document-values.js';
import {
  block,
  durationOrNull,
  type FreeForm,
  flag,
  freeForm,
  inputOnly,
  integer,
  integerOf,
  integerOrNullOf,
  integersOf,
  keptNull,
  keyed,
  many,
  neverNull,
  one,
  oneAlways,
  stringMap,
  strings,
  text,
  uint16,
  uint32,
} from './field-table.js';
import { identityBlock, type WorkloadIdentity } from './identity.js';
import { type Resources, resourcesBlock } from './resources.js';
import { type LogConfig, logConfigBlock, type VolumeMount, volumeMountBlock } from './task-parts.js';

/** The stored form of `ConnectInput`, which describes the fields. */
export interface ServiceConnect {
  readonly Native: boolean;
  readonly Gateway: Gateway | null;
  readonly SidecarService: SidecarService | null;
  readonly SidecarTask: SidecarTask | null;
}

/** The stored form of `GatewayInput`, which describes the fields. */
export interface Gateway {
  readonly Proxy: GatewayProxy | null;
  readonly Ingress: IngressGateway | null;
  readonly Terminating: TerminatingGateway | null;
  readonly Mesh: MeshGateway | null;
}

/** The stored form of `GatewayProxyInput`, which describes the fields. */
export interface GatewayProxy {
  readonly ConnectTimeout: Nanoseconds | null;
  readonly EnvoyGatewayBindTaggedAddresses: boolean;
  readonly EnvoyGatewayBindAddresses: Readonly<Record<string, GatewayBindAddress>>;
  readonly EnvoyGatewayNoDefaultBind: boolean;
  readonly EnvoyDNSDiscoveryType: string;
  readonly Config: FreeForm | null;
}

/** The stored form of `GatewayBindAddressInput`, which describes the fields; the name is its key. */
export interface GatewayBindAddress {
  readonly Address: string;
  readonly Port: number;
}

/** The stored form of `IngressGatewayInput`, which describes the fields. */
export interface IngressGateway {
  readonly TLS: GatewayTLSConfig | null;
  readonly Listeners: readonly IngressListener[] | null;
}

/** The stored form of `GatewayTLSConfigInput`, which describes the fields. */
export interface GatewayTLSConfig {
  readonly Enabled: boolean;
  readonly TLSMinVersion: string;
  readonly TLSMaxVersion: string;
  readonly CipherSuites: readonly string[] | null;
  readonly SDS: GatewayTLSSDSConfig | null;
}

/** The stored form of `GatewayTLSSDSConfigInput`, which describes the fields. */
export interface GatewayTLSSDSConfig {
  readonly ClusterName: string;
  readonly CertResource: string;
}

/** The stored form of `IngressListenerInput`, which describes the fields. */
export interface IngressListener {
  readonly Port: number;
  readonly Protocol: string;
  readonly Services: readonly IngressService[] | null;
}

/** The stored form of `IngressServiceInput`, which describes the fields. */
export interface IngressService {
  readonly Name: string;
  readonly Hosts: readonly string[] | null;
  readonly TLS: GatewayTLSConfig | null;
  readonly RequestHeaders: HTTPHeaderModifiers | null;
  readonly ResponseHeaders: HTTPHeaderModifiers | null;
  readonly MaxConnections: number | null;
  readonly MaxPendingRequests: number | null;
  readonly MaxConcurrentRequests: number | null;
}

/** The stored form of `HTTPHeaderModifiersInput`, which describes the fields. */
export interface HTTPHeaderModifiers {
  readonly Add: Readonly<Record<string, string>> | null;
  readonly Set: Readonly<Record<string, string>> | null;
  readonly Remove: readonly string[] | null;
}

/** The stored form of `TerminatingGatewayInput`, which describes the fields. */
export interface TerminatingGateway {
  readonly Services: readonly LinkedService[] | null;
}

/** The stored form of `LinkedServiceInput`, which describes the fields. */
export interface LinkedService {
  readonly Name: string;
  readonly CAFile: string;
  readonly CertFile: string;
  readonly KeyFile: string;
  readonly SNI: string;
}

/** The stored form of `MeshGatewayInput`, which has no fields. */
export type MeshGateway = Readonly<Record<string, never>>;

/** The stored form of `SidecarServiceInput`, which describes the fields. */
export interface SidecarService {
  readonly Tags: readonly string[] | null;
  readonly Port: string;
  readonly Proxy: SidecarProxy | null;
  readonly DisableDefaultTCPCheck: boolean;
  readonly Meta: Readonly<Record<string, string>> | null;
}

/** The stored form of `SidecarProxyInput`, which describes the fields. */
export interface SidecarProxy {
  readonly LocalServiceAddress: string;
  readonly LocalServicePort: number;
  readonly Expose: ExposeConfig | null;
  readonly Upstreams: readonly Upstream[] | null;
  readonly TransparentProxy: TransparentProxy | null;
  readonly Config: FreeForm | null;
}

/** The stored form of `ExposeConfigInput`, which describes the fields. */
export interface ExposeConfig {
  readonly Paths: readonly ExposePath[] | null;
}

/** The stored form of `ExposePathInput`, which describes the fields. */
export interface ExposePath {
  readonly Path: string;
  readonly Protocol: string;
  readonly LocalPathPort: number;
  readonly ListenerPort: string;
}

/** The stored form of `UpstreamInput`, which describes the fields. */
export interface Upstream {
  readonly DestinationName: string;
  readonly DestinationNamespace: string;
  readonly DestinationPartition: string;
  readonly DestinationPeer: string;
  readonly DestinationType: string;
  readonly LocalBindPort: number;
  readonly Datacenter: string;
  readonly LocalBindAddress: string;
  readonly LocalBindSocketPath: string;
  readonly LocalBindSocketMode: string;
  readonly MeshGateway: UpstreamMeshGateway;
  readonly Config: FreeForm | null;
}

/** The stored form of `UpstreamMeshGatewayInput`, which describes the field. */
export interface UpstreamMeshGateway {
  readonly Mode: string;
}

/** The stored form of `TransparentProxyInput`, which describes the fields. */
export interface TransparentProxy {
  readonly UID: string;
  readonly OutboundPort: number;
  readonly ExcludeInboundPorts: readonly string[] | null;
  readonly ExcludeOutboundPorts: readonly number[] | null;
  readonly ExcludeOutboundCIDRs: readonly string[] | null;
  readonly ExcludeUIDs: readonly string[] | null;
  readonly NoDNS: boolean;
}

/** The stored form of `SidecarTaskInput`, which describes the fields. */
export interface SidecarTask {
  readonly Name: string;
  readonly Driver: string;
  readonly User: string;
  readonly Config: FreeForm | null;
  readonly Env: Readonly<Record<string, string>> | null;
  readonly Resources: Resources | null;
  readonly Meta: Readonly<Record<string, string>> | null;
  readonly KillTimeout: Nanoseconds | null;
  readonly LogConfig: LogConfig | null;
  readonly ShutdownDelay: Nanoseconds | null;
  readonly KillSignal: string;
  readonly VolumeMounts: readonly VolumeMount[] | null;
  readonly Identities: readonly WorkloadIdentity[] | null;
}

export const bindAddressBlock = block('GatewayBindAddress', { Name: inputOnly(text), Address: text, Port: integer });

export const gatewayProxyBlock = block('GatewayProxy', {
  ConnectTimeout: keptNull(durationOrNull),
  EnvoyGatewayBindTaggedAddresses: flag,
  EnvoyGatewayBindAddresses: neverNull(keyed(bindAddressBlock)),
  EnvoyGatewayNoDefaultBind: flag,
  EnvoyDNSDiscoveryType: text,
  Config: freeForm,
});

export const sdsBlock = block('GatewayTLSSDSConfig', { ClusterName: text, CertResource: text });

export const gatewayTlsBlock = block('GatewayTLSConfig', {
  Enabled: flag,
  TLSMinVersion: text,
  TLSMaxVersion: text,
  CipherSuites: strings,
  SDS: one(sdsBlock),
});

export const headerModifiersBlock = block('HTTPHeaderModifiers', { Add: stringMap, Set: stringMap, Remove: strings });

export const ingressServiceBlock = block('IngressService', {
  Name: text,
  Hosts: strings,
  TLS: one(gatewayTlsBlock),
  RequestHeaders: one(headerModifiersBlock),
  ResponseHeaders: one(headerModifiersBlock),
  MaxConnections: keptNull(integerOrNullOf(uint32)),
  MaxPendingRequests: keptNull(integerOrNullOf(uint32)),
  MaxConcurrentRequests: keptNull(integerOrNullOf(uint32)),
});

export const ingressListenerBlock = block('IngressListener', {
  Port: integer,
  Protocol: text,
  Services: many(ingressServiceBlock),
});

export const ingressBlock = block('IngressGateway', {
  TLS: one(gatewayTlsBlock),
  Listeners: many(ingressListenerBlock),
});

export const linkedServiceBlock = block('LinkedService', {
  Name: text,
  CAFile: text,
  CertFile: text,
  KeyFile: text,
  SNI: text,
});

export const terminatingBlock = block('TerminatingGateway', { Services: many(linkedServiceBlock) });

export const meshBlock = block('MeshGateway', {});

export const gatewayBlock = block('Gateway', {
  Proxy: one(gatewayProxyBlock),
  Ingress: one(ingressBlock),
  Terminating: one(terminatingBlock),
  Mesh: one(meshBlock),
});

export const exposePathBlock = block('ExposePath', {
  Path: text,
  Protocol: text,
  LocalPathPort: integer,
  ListenerPort: text,
});

export const exposeBlock = block('ExposeConfig', {
  Paths: many(exposePathBlock),
  // The older name of `Paths`.
  Path: inputOnly(many(exposePathBlock)),
});

export const upstreamMeshGatewayBlock = block('UpstreamMeshGateway', { Mode: text });

export const upstreamBlock = block('Upstream', {
  DestinationName: text,
  DestinationNamespace: text,
  DestinationPartition: text,
  DestinationPeer: text,
  DestinationType: text,
  LocalBindPort: integer,
  Datacenter: text,
  LocalBindAddress: text,
  LocalBindSocketPath: text,
  LocalBindSocketMode: text,
  MeshGateway: oneAlways(upstreamMeshGatewayBlock),
  Config: freeForm,
});

export const transparentProxyBlock = block('TransparentProxy', {
  UID: text,
  OutboundPort: integerOf(uint16),
  ExcludeInboundPorts: strings,
  ExcludeOutboundPorts: integersOf(uint16),
  ExcludeOutboundCIDRs: strings,
  ExcludeUIDs: strings,
  NoDNS: flag,
});

export const sidecarProxyBlock = block('SidecarProxy', {
  LocalServiceAddress: text,
  LocalServicePort: integer,
  Expose: one(exposeBlock),
  // The older name of `Expose`.
  ExposeConfig: inputOnly(one(exposeBlock)),
  Upstreams: many(upstreamBlock),
  TransparentProxy: one(transparentProxyBlock),
  Config: freeForm,
});

export const sidecarServiceBlock = block('SidecarService', {
  Tags: strings,
  Port: text,
  Proxy: one(sidecarProxyBlock),
  DisableDefaultTCPCheck: flag,
  Meta: stringMap,
});

export const sidecarTaskBlock = block('SidecarTask', {
  Name: text,
  Driver: text,
  User: text,
  Config: freeForm,
  Env: stringMap,
  Resources: one(resourcesBlock),
  Meta: stringMap,
  KillTimeout: keptNull(durationOrNull),
  LogConfig: one(logConfigBlock),
  ShutdownDelay: keptNull(durationOrNull),
  KillSignal: text,
  VolumeMounts: many(volumeMountBlock),
  Identities: many(identityBlock),
});

export const connectBlock = block('Connect', {
  Native: flag,
  Gateway: one(gatewayBlock),
  SidecarService: one(sidecarServiceBlock),
  SidecarTask: one(sidecarTaskBlock),
});
