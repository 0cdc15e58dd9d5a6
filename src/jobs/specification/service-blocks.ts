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
import { freeForm, keyed, listMap, many, map, one, specified } from './specification-table.js';
import { identity, logs, resources, volumeMount } from './task-part-blocks.js';

const bindAddress = specified(bindAddressBlock, 'An address that the gateway listens on.', {
  label: 'Name',
});

const gatewayProxy = specified(gatewayProxyBlock, 'Settings of the proxy that is the gateway.', {
  blocks: {
    envoy_gateway_bind_addresses: keyed('EnvoyGatewayBindAddresses', bindAddress),
    config: freeForm('Config'),
  },
});

const sds = specified(sdsBlock, 'The source of the certificates.');

const gatewayTls = specified(gatewayTlsBlock, 'Encryption of incoming connections.', {
  blocks: { sds: one('SDS', sds) },
});

const headerModifiers = specified(headerModifiersBlock, 'Headers to add, set or remove.', {
  blocks: { add: map('Add'), set: map('Set') },
});

const ingressService = specified(ingressServiceBlock, 'A service behind the listener.', {
  blocks: {
    tls: one('TLS', gatewayTls),
    request_headers: one('RequestHeaders', headerModifiers),
    response_headers: one('ResponseHeaders', headerModifiers),
  },
});

const ingressListener = specified(ingressListenerBlock, 'A port that the gateway listens on.', {
  blocks: { service: many('Services', ingressService) },
});

const ingress = specified(ingressBlock, 'Lets traffic into the service mesh.', {
  blocks: { tls: one('TLS', gatewayTls), listener: many('Listeners', ingressListener) },
});

const linkedService = specified(linkedServiceBlock, 'A service outside the mesh.');

const terminating = specified(terminatingBlock, 'Lets traffic out of the service mesh.', {
  blocks: { service: many('Services', linkedService) },
});

const mesh = specified(meshBlock, 'Connects service meshes.');

const gateway = specified(gatewayBlock, 'Makes the service a gateway of the service mesh.', {
  blocks: {
    proxy: one('Proxy', gatewayProxy),
    ingress: one('Ingress', ingress),
    terminating: one('Terminating', terminating),
    mesh: one('Mesh', mesh),
  },
});

const exposePath = specified(exposePathBlock, 'A path that is reachable without the mesh.');

const expose = specified(exposeBlock, 'Paths that are reachable without the mesh.', {
  blocks: { path: many('Paths', exposePath) },
});

const upstreamMeshGateway = specified(
  upstreamMeshGatewayBlock,
  'Whether traffic to the upstream service goes through a mesh gateway.',
);

const upstream = specified(upstreamBlock, 'Another service that the task reaches through the sidecar.', {
  blocks: { mesh_gateway: one('MeshGateway', upstreamMeshGateway), config: freeForm('Config') },
});

const transparentProxy = specified(transparentProxyBlock, 'Sends all traffic of the group through the sidecar.', {
  names: { exclude_outbound_cidrs: 'ExcludeOutboundCIDRs', exclude_uids: 'ExcludeUIDs' },
});

const sidecarProxy = specified(sidecarProxyBlock, 'Settings of the sidecar proxy.', {
  blocks: {
    expose: one('Expose', expose),
    upstreams: many('Upstreams', upstream),
    transparent_proxy: one('TransparentProxy', transparentProxy),
    config: freeForm('Config'),
  },
});

const sidecarService = specified(sidecarServiceBlock, 'Puts a sidecar proxy before the service.', {
  blocks: { proxy: one('Proxy', sidecarProxy), meta: map('Meta') },
});

const sidecarTask = specified(sidecarTaskBlock, 'Changes the task that runs the sidecar proxy.', {
  blocks: {
    config: freeForm('Config'),
    env: map('Env'),
    resources: one('Resources', resources),
    meta: map('Meta'),
    logs: one('LogConfig', logs),
    volume_mount: many('VolumeMounts', volumeMount),
    identity: many('Identities', identity),
  },
});

const connect = specified(connectBlock, 'Makes the service part of the service mesh.', {
  blocks: {
    gateway: one('Gateway', gateway),
    sidecar_service: one('SidecarService', sidecarService),
    sidecar_task: one('SidecarTask', sidecarTask),
  },
});

const check = specified(serviceCheckBlock, 'A health check of the service.', {
  names: { port: 'PortLabel', task: 'TaskName' },
  blocks: { header: listMap('Header'), check_restart: one('CheckRestart', checkRestart) },
});

const weights = specified(serviceWeightsBlock, 'Weights of the service in name resolution.');

export const service = specified(serviceBlock, 'A service that the group or the task registers.', {
  names: { port: 'PortLabel', task: 'TaskName' },
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
});
