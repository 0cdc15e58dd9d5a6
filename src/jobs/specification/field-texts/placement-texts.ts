// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the strings show interpolations of the job specification
import { cniBlock, dnsBlock, networkBlock, portBlock } from '../../document/fields/network-fields.js';
import {
  affinityBlock,
  constraintBlock,
  spreadBlock,
  spreadTargetBlock,
} from '../../document/fields/placement-fields.js';
import { deviceBlock, numaBlock, resourcesBlock } from '../../document/fields/resource-fields.js';
import { type BlockTexts, textsOf } from './field-texts.js';

const leftSide = 'What is compared: an interpolation such as `${attr.kernel.name}`, `${meta.rack}` or `${node.class}`.';

export const placementTexts: readonly BlockTexts[] = [
  textsOf(constraintBlock, {
    LTarget: leftSide,
    RTarget: 'What it is compared with.',
    Operand:
      '`=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains`, `set_contains_any`, `is_set`, `is_not_set`, `distinct_hosts` or `distinct_property`.',
  }),
  textsOf(affinityBlock, {
    LTarget: leftSide,
    RTarget: 'What it is compared with.',
    Operand: '`=`, `!=`, `<`, `<=`, `>`, `>=`, `regexp`, `version`, `semver`, `set_contains` or `set_contains_any`.',
    Weight: 'From -100 to 100, not 0. A negative weight keeps allocations away.',
  }),
  textsOf(spreadBlock, {
    Attribute: 'An interpolation over whose values allocations are spread, such as `${node.datacenter}`.',
    Weight: 'From 1 to 100, against other spreads.',
    SpreadTarget: 'How much each value should get; evenly over all values when there is none.',
  }),
  textsOf(spreadTargetBlock, {
    Value: 'A value of the attribute.',
    Percent: 'From 0 to 100. All targets together at most 100; other values share the rest.',
  }),
  textsOf(resourcesBlock, {
    CPU: 'MHz of processor time. Excludes `Cores`; 100 when neither is given.',
    Cores: 'Whole processor cores for this task alone.',
    MemoryMB: 'MB of memory that are set aside for the task.',
    MemoryMaxMB:
      'MB of memory that the task may use beyond that while the node has them; -1 is no limit. Needs memory oversubscription.',
    DiskMB: 'Ignored: the disk is asked for in the group.',
    IOPS: 'Has no effect.',
    Networks: 'Out of date: networks belong into the group.',
    Devices: 'Devices that the node must have.',
    NUMA: 'Where on the processor the cores should be. Refused here, but for the affinity `none`.',
    SecretsMB: 'MB of the memory for the directory of secrets.',
  }),
  textsOf(deviceBlock, {
    Name: 'A type, vendor/type or vendor/type/name, such as `nvidia/gpu`.',
    Count: 'How many of them.',
    Constraints: 'Rules that the device must satisfy, on `${device.attr.…}`.',
    Affinities: 'Rules that the device should satisfy.',
  }),
  textsOf(numaBlock, {
    Affinity: '`none`, `prefer` or `require`.',
    Devices: 'Names of devices that must be at the same place.',
  }),
  textsOf(networkBlock, {
    Mode: '`host` (the network of the node), `bridge`, `none` or `cni/<name>`.',
    Device: 'Ignored.',
    CIDR: 'Ignored.',
    IP: 'Ignored.',
    Hostname: 'The name of the host inside of the network. No effect in mode `host`.',
    MBits: 'Has no effect.',
    DNS: 'How names are looked up inside of the network. No effect in mode `host`.',
    ReservedPorts: 'Ports of the node with a number of your choice.',
    DynamicPorts: 'Ports of the node with a number that is chosen at placement.',
    CNI: 'Arguments for the network plugin.',
  }),
  textsOf(portBlock, {
    Label: 'The name by which tasks and services refer to the port, as `${NOMAD_PORT_<label>}`.',
    Value: 'The number of the port on the node, from 1 to 65535; for reserved ports only.',
    To: 'The number inside of the network; the same one when left out, and the number on the node for -1.',
    HostNetwork: "The node's network that the port is on; `default` when left out.",
    IgnoreCollision: 'Lets other allocations reserve the same port. For the mode `host` only.',
  }),
  textsOf(dnsBlock, {
    Servers: 'Addresses of name servers.',
    Searches: 'Domains that short names are looked up in.',
    Options: 'Options of the resolver.',
  }),
  textsOf(cniBlock, { Args: 'Names and values without semicolons.' }),
];
