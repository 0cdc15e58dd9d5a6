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
  stringMap,
  strings,
  text,
  uint16,
  uint32,
} from './field-table.js';
import { identityBlock } from './identity-fields.js';
import { resourcesBlock } from './resource-fields.js';
import { logConfigBlock, volumeMountBlock } from './task-part-fields.js';

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
