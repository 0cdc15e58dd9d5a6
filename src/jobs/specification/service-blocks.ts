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
import { freeForm, keyed, listMap, many, map, one, specificationBlock } from './specification-table.js';
import { identity, logs, resources, volumeMount } from './task-part-blocks.js';

const bindAddress = specificationBlock({
  about: 'An address that the gateway listens on.',
  document: bindAddressBlock,
  label: 'Name',
});

const gatewayProxy = specificationBlock({
  about: 'Settings of the proxy that is the gateway.',
  document: gatewayProxyBlock,
  blocks: {
    envoy_gateway_bind_addresses: keyed('EnvoyGatewayBindAddresses', bindAddress),
    config: freeForm('Config'),
  },
});

const sds = specificationBlock({
  about: 'The source of the certificates.',
  document: sdsBlock,
});

const gatewayTls = specificationBlock({
  about: 'Encryption of incoming connections.',
  document: gatewayTlsBlock,
  blocks: { sds: one('SDS', sds) },
});

const headerModifiers = specificationBlock({
  about: 'Headers to add, set or remove.',
  document: headerModifiersBlock,
  blocks: { add: map('Add'), set: map('Set') },
});

const ingressService = specificationBlock({
  about: 'A service behind the listener.',
  document: ingressServiceBlock,
  blocks: {
    tls: one('TLS', gatewayTls),
    request_headers: one('RequestHeaders', headerModifiers),
    response_headers: one('ResponseHeaders', headerModifiers),
  },
});

const ingressListener = specificationBlock({
  about: 'A port that the gateway listens on.',
  document: ingressListenerBlock,
  blocks: { service: many('Services', ingressService) },
});

const ingress = specificationBlock({
  about: 'Lets traffic into the service mesh.',
  document: ingressBlock,
  blocks: { tls: one('TLS', gatewayTls), listener: many('Listeners', ingressListener) },
});

const linkedService = specificationBlock({
  about: 'A service outside the mesh.',
  document: linkedServiceBlock,
});

const terminating = specificationBlock({
  about: 'Lets traffic out of the service mesh.',
  document: terminatingBlock,
  blocks: { service: many('Services', linkedService) },
});

const mesh = specificationBlock({
  about: 'Connects service meshes.',
  document: meshBlock,
});

const gateway = specificationBlock({
  about: 'Makes the service a gateway of the service mesh.',
  document: gatewayBlock,
  blocks: {
    proxy: one('Proxy', gatewayProxy),
    ingress: one('Ingress', ingress),
    terminating: one('Terminating', terminating),
    mesh: one('Mesh', mesh),
  },
});

const exposePath = specificationBlock({
  about: 'A path that is reachable without the mesh.',
  document: exposePathBlock,
});

const expose = specificationBlock({
  about: 'Paths that are reachable without the mesh.',
  document: exposeBlock,
  blocks: { path: many('Paths', exposePath) },
});

const upstreamMeshGateway = specificationBlock({
  about: 'Whether traffic to the upstream service goes through a mesh gateway.',
  document: upstreamMeshGatewayBlock,
});

const upstream = specificationBlock({
  about: 'Another service that the task reaches through the sidecar.',
  document: upstreamBlock,
  blocks: { mesh_gateway: one('MeshGateway', upstreamMeshGateway), config: freeForm('Config') },
});

const transparentProxy = specificationBlock({
  about: 'Sends all traffic of the group through the sidecar.',
  document: transparentProxyBlock,
  names: { exclude_outbound_cidrs: 'ExcludeOutboundCIDRs', exclude_uids: 'ExcludeUIDs' },
});

const sidecarProxy = specificationBlock({
  about: 'Settings of the sidecar proxy.',
  document: sidecarProxyBlock,
  blocks: {
    expose: one('Expose', expose),
    upstreams: many('Upstreams', upstream),
    transparent_proxy: one('TransparentProxy', transparentProxy),
    config: freeForm('Config'),
  },
});

const sidecarService = specificationBlock({
  about: 'Puts a sidecar proxy before the service.',
  document: sidecarServiceBlock,
  blocks: { proxy: one('Proxy', sidecarProxy), meta: map('Meta') },
});

const sidecarTask = specificationBlock({
  about: 'Changes the task that runs the sidecar proxy.',
  document: sidecarTaskBlock,
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

const connect = specificationBlock({
  about: 'Makes the service part of the service mesh.',
  document: connectBlock,
  blocks: {
    gateway: one('Gateway', gateway),
    sidecar_service: one('SidecarService', sidecarService),
    sidecar_task: one('SidecarTask', sidecarTask),
  },
});

const check = specificationBlock({
  about: 'A health check of the service.',
  document: serviceCheckBlock,
  names: { port: 'PortLabel', task: 'TaskName' },
  blocks: { header: listMap('Header'), check_restart: one('CheckRestart', checkRestart) },
});

const weights = specificationBlock({
  about: 'Weights of the service in name resolution.',
  document: serviceWeightsBlock,
});

export const service = specificationBlock({
  about: 'A service that the group or the task registers.',
  document: serviceBlock,
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
