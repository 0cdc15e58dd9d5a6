// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings show interpolations of the job specification
import { cniBlock, dnsBlock, networkBlock, portBlock } from '../../document/network.js';
import { affinityBlock, constraintBlock, spreadBlock, spreadTargetBlock } from '../../document/placement.js';
import { deviceBlock, numaBlock, resourcesBlock } from '../../document/resources.js';
import { type BlockTexts, textsOf } from './field-texts.js';

const leftSide =
  'The attribute to compare: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`.';

export const placementTexts: readonly BlockTexts[] = [
  textsOf(constraintBlock, {
    LTarget: leftSide,
    RTarget: 'The value to compare it with.',
    Operand:
      '`=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains`, `set_contains_any`, `is_set`, `is_not_set`, `distinct_hosts` or `distinct_property`.',
  }),
  textsOf(affinityBlock, {
    LTarget: leftSide,
    RTarget: 'The value to compare it with.',
    Operand: '`=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains` or `set_contains_any`.',
    Weight: 'From -100 to 100, not 0. A negative weight keeps allocations away.',
  }),
  textsOf(spreadBlock, {
    Attribute: 'An interpolation over whose values allocations are spread, such as `${node.datacenter}`.',
    Weight: 'From 1 to 100, relative to other spreads.',
    SpreadTarget: 'The share of each value; without targets, allocations are spread evenly over all values.',
  }),
  textsOf(spreadTargetBlock, {
    Value: 'A value of the attribute.',
    Percent: 'From 0 to 100; at most 100 for all targets together. Other values share the rest.',
  }),
  textsOf(resourcesBlock, {
    CPU: 'MHz of processor time. Cannot be combined with `Cores`; 100 when neither is given.',
    Cores: 'The number of processor cores reserved for this task.',
    MemoryMB: 'MB of memory reserved for the task.',
    MemoryMaxMB:
      'The maximum MB of memory that the task may use if the node has free memory; -1 means no limit. Needs memory oversubscription.',
    DiskMB: 'Ignored: set the disk of the group instead.',
    IOPS: 'Has no effect.',
    Networks: 'An older form of the networks of the group.',
    Devices: 'Devices that the node must have.',
    NUMA: 'The NUMA placement of the cores. Only the affinity `none` is supported.',
    SecretsMB: 'MB of the memory that the secrets directory may use.',
  }),
  textsOf(deviceBlock, {
    Name: 'A type, vendor/type or vendor/type/name, such as `nvidia/gpu`.',
    Count: 'The number of devices.',
    Constraints: 'Rules that the device must satisfy, on `${device.attr.…}`.',
    Affinities: 'Rules that the device should satisfy.',
  }),
  textsOf(numaBlock, {
    Affinity: '`none`, `prefer` or `require`.',
    Devices: 'Names of devices that must be on the same NUMA node.',
  }),
  textsOf(networkBlock, {
    Mode: '`host` (the network of the node), `bridge`, `none` or `cni/<name>`.',
    Device: 'Ignored.',
    CIDR: 'Ignored.',
    IP: 'Ignored.',
    Hostname: 'The host name inside the network. No effect in mode `host`.',
    MBits: 'Has no effect.',
    DNS: 'Name resolution inside the network. No effect in mode `host`.',
    ReservedPorts: 'Static ports of the node.',
    DynamicPorts: 'Ports of the node whose numbers are chosen at placement.',
    CNI: 'Arguments for the network plugin.',
  }),
  textsOf(portBlock, {
    Label: 'The name by which tasks and services refer to the port, as `${NOMAD_PORT_<label>}`.',
    Value: 'The number of the port on the node, from 1 to 65535; for reserved ports only.',
    To: 'The port inside the network; the same number when left out; -1 means the number on the node.',
    HostNetwork: "The node's network that the port is on; `default` when left out.",
    IgnoreCollision: 'Lets other allocations reserve the same port. For the mode `host` only.',
  }),
  textsOf(dnsBlock, {
    Servers: 'Addresses of name servers.',
    Searches: 'Search domains for short names.',
    Options: 'Options of the resolver.',
  }),
  textsOf(cniBlock, { Args: 'Names and values without semicolons.' }),
];
