import {
  block,
  durationOrNull,
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
  type Stored,
  stringMap,
  strings,
  text,
  uint16,
  uint32,
} from './field-table.js';
import { identityBlock } from './identity.js';
import { resourcesBlock } from './resources.js';
import { logConfigBlock, volumeMountBlock } from './task-parts.js';

/** The stored form of `ConnectInput`, which describes the fields. */
export interface ServiceConnect extends Stored<typeof connectBlock> {}

/** The stored form of `GatewayInput`, which describes the fields. */
export interface Gateway extends Stored<typeof gatewayBlock> {}

/** The stored form of `GatewayProxyInput`, which describes the fields. */
export interface GatewayProxy extends Stored<typeof gatewayProxyBlock> {}

/** The stored form of `GatewayBindAddressInput`, which describes the fields; the name is its key. */
export interface GatewayBindAddress extends Stored<typeof bindAddressBlock> {}

/** The stored form of `IngressGatewayInput`, which describes the fields. */
export interface IngressGateway extends Stored<typeof ingressBlock> {}

/** The stored form of `GatewayTLSConfigInput`, which describes the fields. */
export interface GatewayTLSConfig extends Stored<typeof gatewayTlsBlock> {}

/** The stored form of `GatewayTLSSDSConfigInput`, which describes the fields. */
export interface GatewayTLSSDSConfig extends Stored<typeof sdsBlock> {}

/** The stored form of `IngressListenerInput`, which describes the fields. */
export interface IngressListener extends Stored<typeof ingressListenerBlock> {}

/** The stored form of `IngressServiceInput`, which describes the fields. */
export interface IngressService extends Stored<typeof ingressServiceBlock> {}

/** The stored form of `HTTPHeaderModifiersInput`, which describes the fields. */
export interface HTTPHeaderModifiers extends Stored<typeof headerModifiersBlock> {}

/** The stored form of `TerminatingGatewayInput`, which describes the fields. */
export interface TerminatingGateway extends Stored<typeof terminatingBlock> {}

/** The stored form of `LinkedServiceInput`, which describes the fields. */
export interface LinkedService extends Stored<typeof linkedServiceBlock> {}

/** The stored form of `MeshGatewayInput`, which has no fields. */
export type MeshGateway = Readonly<Record<string, never>>;

/** The stored form of `SidecarServiceInput`, which describes the fields. */
export interface SidecarService extends Stored<typeof sidecarServiceBlock> {}

/** The stored form of `SidecarProxyInput`, which describes the fields. */
export interface SidecarProxy extends Stored<typeof sidecarProxyBlock> {}

/** The stored form of `ExposeConfigInput`, which describes the fields. */
export interface ExposeConfig extends Stored<typeof exposeBlock> {}

/** The stored form of `ExposePathInput`, which describes the fields. */
export interface ExposePath extends Stored<typeof exposePathBlock> {}

/** The stored form of `UpstreamInput`, which describes the fields. */
export interface Upstream extends Stored<typeof upstreamBlock> {}

/** The stored form of `UpstreamMeshGatewayInput`, which describes the field. */
export interface UpstreamMeshGateway extends Stored<typeof upstreamMeshGatewayBlock> {}

/** The stored form of `TransparentProxyInput`, which describes the fields. */
export interface TransparentProxy extends Stored<typeof transparentProxyBlock> {}

/** The stored form of `SidecarTaskInput`, which describes the fields. */
export interface SidecarTask extends Stored<typeof sidecarTaskBlock> {}

export const bindAddressBlock = block<GatewayBindAddress>()('GatewayBindAddress', {
  Name: inputOnly(text),
  Address: text,
  Port: integer,
});

export const gatewayProxyBlock = block<GatewayProxy>()('GatewayProxy', {
  ConnectTimeout: keptNull(durationOrNull),
  EnvoyGatewayBindTaggedAddresses: flag,
  EnvoyGatewayBindAddresses: neverNull(keyed(bindAddressBlock)),
  EnvoyGatewayNoDefaultBind: flag,
  EnvoyDNSDiscoveryType: text,
  Config: freeForm,
});

export const sdsBlock = block<GatewayTLSSDSConfig>()('GatewayTLSSDSConfig', { ClusterName: text, CertResource: text });

export const gatewayTlsBlock = block<GatewayTLSConfig>()('GatewayTLSConfig', {
  Enabled: flag,
  TLSMinVersion: text,
  TLSMaxVersion: text,
  CipherSuites: strings,
  SDS: one(sdsBlock),
});

export const headerModifiersBlock = block<HTTPHeaderModifiers>()('HTTPHeaderModifiers', {
  Add: stringMap,
  Set: stringMap,
  Remove: strings,
});

export const ingressServiceBlock = block<IngressService>()('IngressService', {
  Name: text,
  Hosts: strings,
  TLS: one(gatewayTlsBlock),
  RequestHeaders: one(headerModifiersBlock),
  ResponseHeaders: one(headerModifiersBlock),
  MaxConnections: keptNull(integerOrNullOf(uint32)),
  MaxPendingRequests: keptNull(integerOrNullOf(uint32)),
  MaxConcurrentRequests: keptNull(integerOrNullOf(uint32)),
});

export const ingressListenerBlock = block<IngressListener>()('IngressListener', {
  Port: integer,
  Protocol: text,
  Services: many(ingressServiceBlock),
});

export const ingressBlock = block<IngressGateway>()('IngressGateway', {
  TLS: one(gatewayTlsBlock),
  Listeners: many(ingressListenerBlock),
});

export const linkedServiceBlock = block<LinkedService>()('LinkedService', {
  Name: text,
  CAFile: text,
  CertFile: text,
  KeyFile: text,
  SNI: text,
});

export const terminatingBlock = block<TerminatingGateway>()('TerminatingGateway', {
  Services: many(linkedServiceBlock),
});

export const meshBlock = block<MeshGateway>()('MeshGateway', {});

export const gatewayBlock = block<Gateway>()('Gateway', {
  Proxy: one(gatewayProxyBlock),
  Ingress: one(ingressBlock),
  Terminating: one(terminatingBlock),
  Mesh: one(meshBlock),
});

export const exposePathBlock = block<ExposePath>()('ExposePath', {
  Path: text,
  Protocol: text,
  LocalPathPort: integer,
  ListenerPort: text,
});

export const exposeBlock = block<ExposeConfig>()('ExposeConfig', {
  Paths: many(exposePathBlock),
  // The older name of `Paths`.
  Path: inputOnly(many(exposePathBlock)),
});

export const upstreamMeshGatewayBlock = block<UpstreamMeshGateway>()('UpstreamMeshGateway', { Mode: text });

export const upstreamBlock = block<Upstream>()('Upstream', {
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

export const transparentProxyBlock = block<TransparentProxy>()('TransparentProxy', {
  UID: text,
  OutboundPort: integerOf(uint16),
  ExcludeInboundPorts: strings,
  ExcludeOutboundPorts: integersOf(uint16),
  ExcludeOutboundCIDRs: strings,
  ExcludeUIDs: strings,
  NoDNS: flag,
});

export const sidecarProxyBlock = block<SidecarProxy>()('SidecarProxy', {
  LocalServiceAddress: text,
  LocalServicePort: integer,
  Expose: one(exposeBlock),
  // The older name of `Expose`.
  ExposeConfig: inputOnly(one(exposeBlock)),
  Upstreams: many(upstreamBlock),
  TransparentProxy: one(transparentProxyBlock),
  Config: freeForm,
});

export const sidecarServiceBlock = block<SidecarService>()('SidecarService', {
  Tags: strings,
  Port: text,
  Proxy: one(sidecarProxyBlock),
  DisableDefaultTCPCheck: flag,
  Meta: stringMap,
});

export const sidecarTaskBlock = block<SidecarTask>()('SidecarTask', {
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

export const connectBlock = block<ServiceConnect>()('Connect', {
  Native: flag,
  Gateway: one(gatewayBlock),
  SidecarService: one(sidecarServiceBlock),
  SidecarTask: one(sidecarTaskBlock),
});
