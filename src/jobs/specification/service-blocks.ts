import { serviceBlock, serviceCheckBlock, serviceWeightsBlock } from '../document/service.js';
import { connect } from './connect-blocks.js';
import { checkRestart } from './policy-blocks.js';
import { listMap, many, map, one, type SpecificationBlock } from './specification-table.js';
import { identity } from './task-part-blocks.js';

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
