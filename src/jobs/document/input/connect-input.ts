// Made by `renderJobInputTypes` from the tables in `src/jobs`. Do not edit.

import type { DurationInput } from '../duration-input.js';
import type { JsonValue } from '../fields/field-table.js';
import type { WorkloadIdentityInput } from './identity-input.js';
import type { ResourcesInput } from './resource-input.js';
import type { LogConfigInput, VolumeMountInput } from './task-part-input.js';

/** Makes the service part of the service mesh. The block `connect` of a job specification. */
export interface ConnectInput {
  /** The task speaks the protocol of the mesh itself. */
  readonly Native?: boolean | null;
  /** Makes the service a gateway. Not supported: refused. */
  readonly Gateway?: GatewayInput | null;
  /** Puts a proxy in front of the service. */
  readonly SidecarService?: SidecarServiceInput | null;
  /** Overrides of the proxy task. */
  readonly SidecarTask?: SidecarTaskInput | null;
}

/** Makes the service a gateway of the service mesh. The block `gateway` of a job specification. */
export interface GatewayInput {
  /** The configuration of the proxy. */
  readonly Proxy?: GatewayProxyInput | null;
  /** Lets traffic into the mesh. */
  readonly Ingress?: IngressGatewayInput | null;
  /** Lets traffic out of the mesh. */
  readonly Terminating?: TerminatingGatewayInput | null;
  /** Joins meshes. */
  readonly Mesh?: MeshGatewayInput | null;
}

/** Settings of the proxy that is the gateway. The block `proxy` of a job specification. */
export interface GatewayProxyInput {
  /** How long a connection may take to open. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly ConnectTimeout?: DurationInput | null;
  /** Listens on the service's tagged addresses. */
  readonly EnvoyGatewayBindTaggedAddresses?: boolean | null;
  /** Addresses that the gateway listens on, by name. */
  readonly EnvoyGatewayBindAddresses?: { readonly [label: string]: GatewayBindAddressInput } | null;
  /** Does not listen on the default address. */
  readonly EnvoyGatewayNoDefaultBind?: boolean | null;
  /** `STRICT_DNS` or `LOGICAL_DNS`. */
  readonly EnvoyDNSDiscoveryType?: string | null;
  /** Further configuration of the proxy. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

/** An address that the gateway listens on. The block `envoy_gateway_bind_addresses` of a job specification. */
export interface GatewayBindAddressInput {
  /** @deprecated Ignored: the label counts. */
  readonly Name?: string | null;
  /** The address to listen on. */
  readonly Address?: string | null;
  /** The port to listen on. */
  readonly Port?: number | null;
}

/** Lets traffic into the service mesh. The block `ingress` of a job specification. */
export interface IngressGatewayInput {
  /** TLS of all listeners. */
  readonly TLS?: GatewayTLSConfigInput | null;
  /** The ports for incoming traffic. */
  readonly Listeners?: readonly IngressListenerInput[] | null;
}

/** Encryption of incoming connections. The block `tls` of a job specification. */
export interface GatewayTLSConfigInput {
  /** Whether TLS is used. */
  readonly Enabled?: boolean | null;
  /** The lowest version of TLS. */
  readonly TLSMinVersion?: string | null;
  /** The highest version of TLS. */
  readonly TLSMaxVersion?: string | null;
  /** The allowed cipher suites. */
  readonly CipherSuites?: readonly string[] | null;
  /** The source of certificates. */
  readonly SDS?: GatewayTLSSDSConfigInput | null;
}

/** The source of the certificates. The block `sds` of a job specification. */
export interface GatewayTLSSDSConfigInput {
  /** The cluster that serves certificates. */
  readonly ClusterName?: string | null;
  /** The name of the certificate. */
  readonly CertResource?: string | null;
}

/** A port that the gateway listens on. The block `listener` of a job specification. */
export interface IngressListenerInput {
  /** The port to listen on. */
  readonly Port?: number | null;
  /** `tcp`, `http`, `http2` or `grpc`. Default: `tcp`. */
  readonly Protocol?: string | null;
  /** The services behind the listener. */
  readonly Services?: readonly IngressServiceInput[] | null;
}

/** A service behind the listener. The block `service` of a job specification. */
export interface IngressServiceInput {
  /** The name of the service; `*` for all. */
  readonly Name?: string | null;
  /** Host names that are routed to it. */
  readonly Hosts?: readonly string[] | null;
  /** TLS for these hosts. */
  readonly TLS?: GatewayTLSConfigInput | null;
  /** Changes of request headers. */
  readonly RequestHeaders?: HTTPHeaderModifiersInput | null;
  /** Changes of response headers. */
  readonly ResponseHeaders?: HTTPHeaderModifiersInput | null;
  /** The maximum number of open connections. A whole number from 0 to 4294967295. */
  readonly MaxConnections?: number | null;
  /** The maximum number of waiting requests. A whole number from 0 to 4294967295. */
  readonly MaxPendingRequests?: number | null;
  /** The maximum number of concurrent requests. A whole number from 0 to 4294967295. */
  readonly MaxConcurrentRequests?: number | null;
}

/** Headers to add, set or remove. The block `request_headers` or `response_headers` of a job specification. */
export interface HTTPHeaderModifiersInput {
  /** Headers to add. */
  readonly Add?: { readonly [name: string]: string } | null;
  /** Headers to set. */
  readonly Set?: { readonly [name: string]: string } | null;
  /** Headers to remove. */
  readonly Remove?: readonly string[] | null;
}

/** Lets traffic out of the service mesh. The block `terminating` of a job specification. */
export interface TerminatingGatewayInput {
  /** The services outside the mesh. */
  readonly Services?: readonly LinkedServiceInput[] | null;
}

/** A service outside the mesh. The block `service` of a job specification. */
export interface LinkedServiceInput {
  /** The name of the service in the catalogue. */
  readonly Name?: string | null;
  /** The file with the CA certificate that verifies the service. */
  readonly CAFile?: string | null;
  /** The file with the client certificate of the gateway. */
  readonly CertFile?: string | null;
  /** The file with the private key of the client certificate. */
  readonly KeyFile?: string | null;
  /** The server name (SNI) of the connection. */
  readonly SNI?: string | null;
}

/** Connects service meshes. The block `mesh` of a job specification. */
export type MeshGatewayInput = { readonly [name: string]: never };

/** Puts a sidecar proxy before the service. The block `sidecar_service` of a job specification. */
export interface SidecarServiceInput {
  /** Tags of the proxy in the catalogue. */
  readonly Tags?: readonly string[] | null;
  /** The label of its port; generated when left out. */
  readonly Port?: string | null;
  /** The configuration of the proxy. */
  readonly Proxy?: SidecarProxyInput | null;
  /** Disables the default check of its port. */
  readonly DisableDefaultTCPCheck?: boolean | null;
  /** Names and values in the catalogue. */
  readonly Meta?: { readonly [name: string]: string } | null;
}

/** Settings of the sidecar proxy. The block `proxy` of a job specification. */
export interface SidecarProxyInput {
  /** The address that the service listens on. */
  readonly LocalServiceAddress?: string | null;
  /** The port that it listens on. */
  readonly LocalServicePort?: number | null;
  /** Paths that are reachable without the mesh. */
  readonly Expose?: ExposeConfigInput | null;
  /** @deprecated An older form of `Expose`. */
  readonly ExposeConfig?: ExposeConfigInput | null;
  /** Services that the proxy connects to. */
  readonly Upstreams?: readonly UpstreamInput[] | null;
  /** Redirects all traffic of the network through the proxy. */
  readonly TransparentProxy?: TransparentProxyInput | null;
  /** Further configuration of the proxy. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

/** Paths that are reachable without the mesh. The block `expose` of a job specification. */
export interface ExposeConfigInput {
  /** The paths, each with the port on which the proxy serves it. */
  readonly Paths?: readonly ExposePathInput[] | null;
  /** @deprecated An older form of `Paths`. */
  readonly Path?: readonly ExposePathInput[] | null;
}

/** A path that is reachable without the mesh. The block `path` of a job specification. */
export interface ExposePathInput {
  /** A path that is reachable without the mesh, such as `/health`. */
  readonly Path?: string | null;
  /** `http` or `http2`. */
  readonly Protocol?: string | null;
  /** The port that the service listens on. */
  readonly LocalPathPort?: number | null;
  /** The label of the port that the proxy listens on. */
  readonly ListenerPort?: string | null;
}

/** Another service that the task reaches through the sidecar. The block `upstreams` of a job specification. */
export interface UpstreamInput {
  /** The name of the destination service. */
  readonly DestinationName?: string | null;
  /** The namespace of that service in Consul. */
  readonly DestinationNamespace?: string | null;
  /** The partition of that service in Consul. */
  readonly DestinationPartition?: string | null;
  /** The peered cluster that the service is in. */
  readonly DestinationPeer?: string | null;
  /** `service` or `prepared_query`. */
  readonly DestinationType?: string | null;
  /** The local port that forwards to it. */
  readonly LocalBindPort?: number | null;
  /** The datacenter of the service; the same one when left out. */
  readonly Datacenter?: string | null;
  /** The local address that forwards to it. */
  readonly LocalBindAddress?: string | null;
  /** A local Unix socket instead of a port. */
  readonly LocalBindSocketPath?: string | null;
  /** The permissions of the socket. */
  readonly LocalBindSocketMode?: string | null;
  /** How other datacenters are reached. */
  readonly MeshGateway?: UpstreamMeshGatewayInput | null;
  /** Further configuration of the upstream service. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
}

/**
 * Whether traffic to the upstream service goes through a mesh gateway. The block `mesh_gateway` of a job
 * specification.
 */
export interface UpstreamMeshGatewayInput {
  /** `none`, `local` or `remote`. */
  readonly Mode?: string | null;
}

/** Sends all traffic of the group through the sidecar. The block `transparent_proxy` of a job specification. */
export interface TransparentProxyInput {
  /** The user that the proxy runs as. */
  readonly UID?: string | null;
  /** The port of the proxy for outgoing traffic. A whole number from 0 to 65535. */
  readonly OutboundPort?: number | null;
  /** Ports or labels whose incoming traffic bypasses the proxy. */
  readonly ExcludeInboundPorts?: readonly string[] | null;
  /** Destination ports whose outgoing traffic bypasses the proxy. */
  readonly ExcludeOutboundPorts?: readonly number[] | null;
  /** Destination networks whose outgoing traffic bypasses the proxy. */
  readonly ExcludeOutboundCIDRs?: readonly string[] | null;
  /** Users whose traffic bypasses the proxy. */
  readonly ExcludeUIDs?: readonly string[] | null;
  /** Does not redirect DNS queries. */
  readonly NoDNS?: boolean | null;
}

/** Changes the task that runs the sidecar proxy. The block `sidecar_task` of a job specification. */
export interface SidecarTaskInput {
  /** The name of the proxy as a task of the group. */
  readonly Name?: string | null;
  /** The driver that runs the proxy. */
  readonly Driver?: string | null;
  /** The user that it runs as. */
  readonly User?: string | null;
  /** The configuration of the driver; overrides the built-in one. */
  readonly Config?: { readonly [name: string]: JsonValue } | null;
  /** Environment variables. */
  readonly Env?: { readonly [name: string]: string } | null;
  /** Processor and memory. */
  readonly Resources?: ResourcesInput | null;
  /** Names and values for the task. */
  readonly Meta?: { readonly [name: string]: string } | null;
  /** How long the proxy may take to end before it is killed. A string such as `30s`, or nanoseconds. Default: `5s`. */
  readonly KillTimeout?: DurationInput | null;
  /** Log rotation: how much output is kept. */
  readonly LogConfig?: LogConfigInput | null;
  /**
   * How long the proxy keeps running after the service was deregistered. A string such as `30s`, or nanoseconds.
   * Default: `0s`.
   */
  readonly ShutdownDelay?: DurationInput | null;
  /** The signal that requests its end. */
  readonly KillSignal?: string | null;
  /** Mounts of the volumes of the group. */
  readonly VolumeMounts?: readonly VolumeMountInput[] | null;
  /** Tokens for other systems. */
  readonly Identities?: readonly WorkloadIdentityInput[] | null;
}
