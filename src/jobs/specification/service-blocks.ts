import {
  bindAddressBlock,
  connectBlock,
  exposeBlock,
  exposePathBlock,
  gatewayBlock,
  gatewayProxyBlock,
  gatewayTlsBlock,
  headerModifiersBlock,
  ingressBlock,
  ingressListenerBlock,
  ingressServiceBlock,
  linkedServiceBlock,
  meshBlock,
  sdsBlock,
  sidecarProxyBlock,
  sidecarServiceBlock,
  sidecarTaskBlock,
  terminatingBlock,
  transparentProxyBlock,
  upstreamBlock,
  upstreamMeshGatewayBlock,
} from '../document/connect.js';
import { serviceBlock, serviceCheckBlock, serviceWeightsBlock } from '../document/service.js';
import { checkRestart } from './shared-blocks.js';
import { freeForm, keyed, listMap, many, map, one, type SpecificationBlock } from './specification-table.js';
import { identity, logs, resources, volumeMount } from './task-part-blocks.js';

const bindAddress: SpecificationBlock = {
  about: 'An address that the gateway listens on.',
  document: bindAddressBlock,
  label: 'Name',
  attributes: { address: 'Address', port: 'Port' },
  blocks: {},
};

const gatewayProxy: SpecificationBlock = {
  about: 'Settings of the proxy that is the gateway.',
  document: gatewayProxyBlock,
  attributes: {
    connect_timeout: 'ConnectTimeout',
    envoy_gateway_bind_tagged_addresses: 'EnvoyGatewayBindTaggedAddresses',
    envoy_gateway_no_default_bind: 'EnvoyGatewayNoDefaultBind',
    envoy_dns_discovery_type: 'EnvoyDNSDiscoveryType',
  },
  blocks: {
    envoy_gateway_bind_addresses: keyed('EnvoyGatewayBindAddresses', bindAddress),
    config: freeForm('Config'),
  },
};

const sds: SpecificationBlock = {
  about: 'The source of the certificates.',
  document: sdsBlock,
  attributes: { cluster_name: 'ClusterName', cert_resource: 'CertResource' },
  blocks: {},
};

const gatewayTls: SpecificationBlock = {
  about: 'Encryption of incoming connections.',
  document: gatewayTlsBlock,
  attributes: {
    enabled: 'Enabled',
    tls_min_version: 'TLSMinVersion',
    tls_max_version: 'TLSMaxVersion',
    cipher_suites: 'CipherSuites',
  },
  blocks: { sds: one('SDS', sds) },
};

const headerModifiers: SpecificationBlock = {
  about: 'Headers to add, set or remove.',
  document: headerModifiersBlock,
  attributes: { remove: 'Remove' },
  blocks: { add: map('Add'), set: map('Set') },
};

const ingressService: SpecificationBlock = {
  about: 'A service behind the listener.',
  document: ingressServiceBlock,
  attributes: {
    name: 'Name',
    hosts: 'Hosts',
    max_connections: 'MaxConnections',
    max_pending_requests: 'MaxPendingRequests',
    max_concurrent_requests: 'MaxConcurrentRequests',
  },
  blocks: {
    tls: one('TLS', gatewayTls),
    request_headers: one('RequestHeaders', headerModifiers),
    response_headers: one('ResponseHeaders', headerModifiers),
  },
};

const ingressListener: SpecificationBlock = {
  about: 'A port that the gateway listens on.',
  document: ingressListenerBlock,
  attributes: { port: 'Port', protocol: 'Protocol' },
  blocks: { service: many('Services', ingressService) },
};

const ingress: SpecificationBlock = {
  about: 'Lets traffic into the service mesh.',
  document: ingressBlock,
  attributes: {},
  blocks: { tls: one('TLS', gatewayTls), listener: many('Listeners', ingressListener) },
};

const linkedService: SpecificationBlock = {
  about: 'A service outside the mesh.',
  document: linkedServiceBlock,
  attributes: { name: 'Name', ca_file: 'CAFile', cert_file: 'CertFile', key_file: 'KeyFile', sni: 'SNI' },
  blocks: {},
};

const terminating: SpecificationBlock = {
  about: 'Lets traffic out of the service mesh.',
  document: terminatingBlock,
  attributes: {},
  blocks: { service: many('Services', linkedService) },
};

const mesh: SpecificationBlock = {
  about: 'Connects service meshes.',
  document: meshBlock,
  attributes: {},
  blocks: {},
};

const gateway: SpecificationBlock = {
  about: 'Makes the service a gateway of the service mesh.',
  document: gatewayBlock,
  attributes: {},
  blocks: {
    proxy: one('Proxy', gatewayProxy),
    ingress: one('Ingress', ingress),
    terminating: one('Terminating', terminating),
    mesh: one('Mesh', mesh),
  },
};

const exposePath: SpecificationBlock = {
  about: 'A path that is reachable without the mesh.',
  document: exposePathBlock,
  attributes: {
    path: 'Path',
    protocol: 'Protocol',
    local_path_port: 'LocalPathPort',
    listener_port: 'ListenerPort',
  },
  blocks: {},
};

const expose: SpecificationBlock = {
  about: 'Paths that are reachable without the mesh.',
  document: exposeBlock,
  attributes: {},
  blocks: { path: many('Paths', exposePath) },
};

const upstreamMeshGateway: SpecificationBlock = {
  about: 'Whether traffic to the upstream service goes through a mesh gateway.',
  document: upstreamMeshGatewayBlock,
  attributes: { mode: 'Mode' },
  blocks: {},
};

const upstream: SpecificationBlock = {
  about: 'Another service that the task reaches through the sidecar.',
  document: upstreamBlock,
  attributes: {
    destination_name: 'DestinationName',
    destination_namespace: 'DestinationNamespace',
    destination_peer: 'DestinationPeer',
    destination_partition: 'DestinationPartition',
    destination_type: 'DestinationType',
    local_bind_port: 'LocalBindPort',
    datacenter: 'Datacenter',
    local_bind_address: 'LocalBindAddress',
    local_bind_socket_path: 'LocalBindSocketPath',
    local_bind_socket_mode: 'LocalBindSocketMode',
  },
  blocks: { mesh_gateway: one('MeshGateway', upstreamMeshGateway), config: freeForm('Config') },
};

const transparentProxy: SpecificationBlock = {
  about: 'Sends all traffic of the group through the sidecar.',
  document: transparentProxyBlock,
  attributes: {
    uid: 'UID',
    outbound_port: 'OutboundPort',
    exclude_inbound_ports: 'ExcludeInboundPorts',
    exclude_outbound_ports: 'ExcludeOutboundPorts',
    exclude_outbound_cidrs: 'ExcludeOutboundCIDRs',
    exclude_uids: 'ExcludeUIDs',
    no_dns: 'NoDNS',
  },
  blocks: {},
};

const sidecarProxy: SpecificationBlock = {
  about: 'Settings of the sidecar proxy.',
  document: sidecarProxyBlock,
  attributes: { local_service_address: 'LocalServiceAddress', local_service_port: 'LocalServicePort' },
  blocks: {
    expose: one('Expose', expose),
    upstreams: many('Upstreams', upstream),
    transparent_proxy: one('TransparentProxy', transparentProxy),
    config: freeForm('Config'),
  },
};

const sidecarService: SpecificationBlock = {
  about: 'Puts a sidecar proxy before the service.',
  document: sidecarServiceBlock,
  attributes: { tags: 'Tags', port: 'Port', disable_default_tcp_check: 'DisableDefaultTCPCheck' },
  blocks: { proxy: one('Proxy', sidecarProxy), meta: map('Meta') },
};

const sidecarTask: SpecificationBlock = {
  about: 'Changes the task that runs the sidecar proxy.',
  document: sidecarTaskBlock,
  attributes: {
    name: 'Name',
    driver: 'Driver',
    user: 'User',
    kill_timeout: 'KillTimeout',
    shutdown_delay: 'ShutdownDelay',
    kill_signal: 'KillSignal',
  },
  blocks: {
    config: freeForm('Config'),
    env: map('Env'),
    resources: one('Resources', resources),
    meta: map('Meta'),
    logs: one('LogConfig', logs),
    volume_mount: many('VolumeMounts', volumeMount),
    identity: many('Identities', identity),
  },
};

const connect: SpecificationBlock = {
  about: 'Makes the service part of the service mesh.',
  document: connectBlock,
  attributes: { native: 'Native' },
  blocks: {
    gateway: one('Gateway', gateway),
    sidecar_service: one('SidecarService', sidecarService),
    sidecar_task: one('SidecarTask', sidecarTask),
  },
};

const check: SpecificationBlock = {
  about: 'A health check of the service.',
  document: serviceCheckBlock,
  attributes: {
    name: 'Name',
    type: 'Type',
    command: 'Command',
    args: 'Args',
    path: 'Path',
    protocol: 'Protocol',
    port: 'PortLabel',
    expose: 'Expose',
    address_mode: 'AddressMode',
    advertise: 'Advertise',
    interval: 'Interval',
    timeout: 'Timeout',
    initial_status: 'InitialStatus',
    notes: 'Notes',
    tls_server_name: 'TLSServerName',
    tls_skip_verify: 'TLSSkipVerify',
    method: 'Method',
    grpc_service: 'GRPCService',
    grpc_use_tls: 'GRPCUseTLS',
    task: 'TaskName',
    success_before_passing: 'SuccessBeforePassing',
    failures_before_critical: 'FailuresBeforeCritical',
    failures_before_warning: 'FailuresBeforeWarning',
    body: 'Body',
    on_update: 'OnUpdate',
  },
  blocks: { header: listMap('Header'), check_restart: one('CheckRestart', checkRestart) },
};

const weights: SpecificationBlock = {
  about: 'Weights of the service in name resolution.',
  document: serviceWeightsBlock,
  attributes: { passing: 'Passing', warning: 'Warning' },
  blocks: {},
};

export const service: SpecificationBlock = {
  about: 'A service that the group or the task registers.',
  document: serviceBlock,
  attributes: {
    name: 'Name',
    tags: 'Tags',
    canary_tags: 'CanaryTags',
    enable_tag_override: 'EnableTagOverride',
    port: 'PortLabel',
    address_mode: 'AddressMode',
    address: 'Address',
    task: 'TaskName',
    on_update: 'OnUpdate',
    provider: 'Provider',
    cluster: 'Cluster',
    kind: 'Kind',
  },
  blocks: {
    check: many('Checks', check),
    check_restart: one('CheckRestart', checkRestart),
    connect: one('Connect', connect),
    meta: map('Meta'),
    canary_meta: map('CanaryMeta'),
    tagged_addresses: map('TaggedAddresses'),
    identity: one('Identity', identity),
    weights: one('Weights', weights),
  },
};
