import type { Nanoseconds } from './document-values.js';
import type { FreeForm } from './fields/field-table.js';
import type { WorkloadIdentity } from './identity.js';
import type { Resources } from './resources.js';
import type { LogConfig, VolumeMount } from './task-parts.js';

export interface ServiceConnect {
  readonly Native: boolean;
  readonly Gateway: Gateway | null;
  readonly SidecarService: SidecarService | null;
  readonly SidecarTask: SidecarTask | null;
}

interface Gateway {
  readonly Proxy: GatewayProxy | null;
  readonly Ingress: IngressGateway | null;
  readonly Terminating: TerminatingGateway | null;
  readonly Mesh: MeshGateway | null;
}

interface GatewayProxy {
  readonly ConnectTimeout: Nanoseconds | null;
  readonly EnvoyGatewayBindTaggedAddresses: boolean;
  readonly EnvoyGatewayBindAddresses: Readonly<Record<string, GatewayBindAddress>>;
  readonly EnvoyGatewayNoDefaultBind: boolean;
  readonly EnvoyDNSDiscoveryType: string;
  readonly Config: FreeForm | null;
}

export interface GatewayBindAddress {
  readonly Address: string;
  readonly Port: number;
}

interface IngressGateway {
  readonly TLS: GatewayTLSConfig | null;
  readonly Listeners: readonly IngressListener[] | null;
}

interface GatewayTLSConfig {
  readonly Enabled: boolean;
  readonly TLSMinVersion: string;
  readonly TLSMaxVersion: string;
  readonly CipherSuites: readonly string[] | null;
  readonly SDS: GatewayTLSSDSConfig | null;
}

interface GatewayTLSSDSConfig {
  readonly ClusterName: string;
  readonly CertResource: string;
}

interface IngressListener {
  readonly Port: number;
  readonly Protocol: string;
  readonly Services: readonly IngressService[] | null;
}

interface IngressService {
  readonly Name: string;
  readonly Hosts: readonly string[] | null;
  readonly TLS: GatewayTLSConfig | null;
  readonly RequestHeaders: HTTPHeaderModifiers | null;
  readonly ResponseHeaders: HTTPHeaderModifiers | null;
  readonly MaxConnections: number | null;
  readonly MaxPendingRequests: number | null;
  readonly MaxConcurrentRequests: number | null;
}

interface HTTPHeaderModifiers {
  readonly Add: Readonly<Record<string, string>> | null;
  readonly Set: Readonly<Record<string, string>> | null;
  readonly Remove: readonly string[] | null;
}

interface TerminatingGateway {
  readonly Services: readonly LinkedService[] | null;
}

interface LinkedService {
  readonly Name: string;
  readonly CAFile: string;
  readonly CertFile: string;
  readonly KeyFile: string;
  readonly SNI: string;
}

type MeshGateway = Readonly<Record<string, never>>;

interface SidecarService {
  readonly Tags: readonly string[] | null;
  readonly Port: string;
  readonly Proxy: SidecarProxy | null;
  readonly DisableDefaultTCPCheck: boolean;
  readonly Meta: Readonly<Record<string, string>> | null;
}

export interface SidecarProxy {
  readonly LocalServiceAddress: string;
  readonly LocalServicePort: number;
  readonly Expose: ExposeConfig | null;
  readonly Upstreams: readonly Upstream[] | null;
  readonly TransparentProxy: TransparentProxy | null;
  readonly Config: FreeForm | null;
}

interface ExposeConfig {
  readonly Paths: readonly ExposePath[] | null;
}

export interface ExposePath {
  readonly Path: string;
  readonly Protocol: string;
  readonly LocalPathPort: number;
  readonly ListenerPort: string;
}

interface Upstream {
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

interface UpstreamMeshGateway {
  readonly Mode: string;
}

interface TransparentProxy {
  readonly UID: string;
  readonly OutboundPort: number;
  readonly ExcludeInboundPorts: readonly string[] | null;
  readonly ExcludeOutboundPorts: readonly number[] | null;
  readonly ExcludeOutboundCIDRs: readonly string[] | null;
  readonly ExcludeUIDs: readonly string[] | null;
  readonly NoDNS: boolean;
}

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
