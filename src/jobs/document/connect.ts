import type { Nanoseconds } from './document-values.js';
import type { FreeForm } from './fields/field-table.js';
import type { WorkloadIdentity } from './identity.js';
import type { Resources } from './resources.js';
import type { LogConfig, VolumeMount } from './task-parts.js';

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
